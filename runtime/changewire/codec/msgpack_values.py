"""What both MessagePack parsers share, and extension types as keys, which `Ext` cannot be."""

from typing import Any, Final

from msgspec.msgpack import Ext

from changewire_messages.support import pointer_token

INTEGERS: Final = range(-(2**63), 2**64)
"""The integers that MessagePack has."""


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


def hashable(value: Any) -> Any:
    """Return a value as the key of a dictionary: an array as a tuple, `Ext` as `ExtKey`.

    Raises:
        TypeError: There is a map in it.
    """
    if isinstance(value, Ext):
        return ExtKey(value.code, bytes(value.data))
    if isinstance(value, dict):
        raise TypeError
    return tuple(map(hashable, value)) if isinstance(value, list) else value
