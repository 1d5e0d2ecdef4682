"""Values of MessagePack that JSON lacks: extension types as keys, and the form of all as JSON."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from itertools import repeat
from math import isfinite
from typing import Any, Final

from msgspec.msgpack import Ext

from changewire_messages.support import Path, key_token

INTEGERS: Final = range(-(2**63), 2**64)
"""The integers that MessagePack has."""


class ExtKey:
    """A value of an extension type that is the key of a map; elsewhere it is a msgspec `Ext`."""

    __slots__ = ("code", "data")

    def __init__(self, code: int, data: bytes) -> None:
        self.code: int = code
        self.data: bytes = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExtKey) and (self.code, self.data) == (other.code, other.data)

    def __hash__(self) -> int:
        return hash((self.code, self.data))

    def __repr__(self) -> str:
        return f"ExtKey({self.code}, {self.data!r})"


def write_ext_key(value: object) -> Ext:
    """Encode the key of a map that is of an extension type (an ``enc_hook``)."""
    if isinstance(value, ExtKey):
        return Ext(value.code, value.data)
    raise TypeError(type(value).__name__)


def pointer_of(path: Path) -> str:
    """Return the JSON Pointer of a path, which may be longer than Python's stack is deep."""
    tokens: list[str] = []
    while path:
        path, step = path
        tokens.append(f"/{key_token(step)}")
    return "".join(reversed(tokens))


def hashable(value: Any) -> Any:
    """Return a value as the key of a dictionary: an array as a tuple, `Ext` as `ExtKey`."""
    if isinstance(value, Ext):
        return ExtKey(value.code, bytes(value.data))
    if isinstance(value, dict):
        raise TypeError
    return tuple(map(hashable, value)) if isinstance(value, list) else value


def json_form(value: Any, ext: Callable[[Ext | ExtKey], Any] | None = None) -> Any:
    """Return a value of a message as one that JSON has, close to the value in JSON formats."""
    kind = type(value)
    if kind is dict:
        if all(type(key) is str for key in value):
            return dict(zip(value, map(json_form, value.values(), repeat(ext)), strict=True))
        return list(map(json_form, value.items(), repeat(ext)))
    if kind is list or kind is tuple:
        return list(map(json_form, value, repeat(ext)))
    if ext and isinstance(value, (Ext, ExtKey)):
        return ext(value)
    form = _FORMS.get(kind)
    return form(value) if form else value


def _base64(data: Any) -> str:
    return b64encode(data).decode("ascii")


def _float(value: float) -> float | str:
    if isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124


def _ext(value: Ext | ExtKey) -> dict[str, Any]:
    return {"ext": value.code, "data": _base64(value.data)}


_FORMS: Final[Mapping[type, Callable[[Any], Any]]] = {
    bytes: _base64,
    Ext: _ext,
    ExtKey: _ext,
    float: _float,
}
"""How a value without parts becomes JSON, if it is not a JSON value itself."""
