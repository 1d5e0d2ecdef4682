"""What MessagePack holds and JSON lacks, as readable JSON: what changes and conversions hold."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from itertools import repeat
from math import isfinite
from typing import Any, Final

from msgspec.msgpack import Ext

from changewire.codec.msgpack_values import ExtKey


def json_form(value: Any, ext: Callable[[Ext | ExtKey], Any] | None = None) -> Any:
    """Return a value of a message as one that JSON has, close to what JSON formats hold for it.

    Bytes become Base64 text (RFC 4648, section 4), an extension type ``{"ext": code, "data":
    Base64}``, NaN and the infinities text, and a map with a key that is no text an array of
    [key, value] pairs. It cannot be read back: `json_message` writes what can.

    Args:
        value: The value.
        ext: Gives the form of an extension type, in place of the one above.

    Raises:
        RecursionError: The value is nested too deep.
    """
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
"""How a value without parts becomes JSON, where it does not as it is."""
