"""What both MessagePack parsers share, and extension types as keys, which `Ext` cannot be."""

from typing import Final

from msgspec.msgpack import Ext

from changewire_messages.support import pointer_token

ARRAYS: Final = frozenset((*range(0x90, 0xA0), 0xDC, 0xDD))
"""First bytes of an array."""


class ExtKey:
    """A value of an extension type that is the key of a map; elsewhere it is a msgspec `Ext`.

    Attributes:
        code: Code of the extension type, -128 to 127.
        data: The bytes.
    """

    __slots__ = ("code", "data")

    def __init__(self, code: int, data: bytes) -> None:
        """Keep code and bytes."""
        self.code = code
        self.data = data

    def __eq__(self, other: object) -> bool:
        """Tell whether code and bytes are the same."""
        return isinstance(other, ExtKey) and (self.code, self.data) == (other.code, other.data)

    def __hash__(self) -> int:
        """Hash by code and bytes."""
        return hash((self.code, self.data))

    def __repr__(self) -> str:
        """Return the constructor call."""
        return f"ExtKey({self.code}, {self.data!r})"


def write_ext_key(value: object) -> Ext:
    """Encode the key of a map that is of an extension type (an ``enc_hook``)."""
    if isinstance(value, ExtKey):
        return Ext(value.code, value.data)
    raise TypeError(type(value).__name__)


def key_token(key: object) -> str:
    """Return the token of a JSON Pointer for the key of a map: text, or what Python writes."""
    return pointer_token(key if isinstance(key, str) else repr(key))
