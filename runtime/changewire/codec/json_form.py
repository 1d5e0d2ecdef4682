"""What MessagePack holds and JSON lacks, as JSON that people and programs can read."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from itertools import repeat
from math import isfinite
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.msgpack import Ext
from msgspec.structs import astuple

from changewire.codec.issues import EncodeError, Issue
from changewire.codec.msgpack_values import ExtKey
from changewire.codec.wire import too_deep


def json_form(value: Any, ext: Callable[[Ext | ExtKey], Any] | None = None) -> Any:
    """Return a value of a message as one that JSON has.

    Bytes become Base64 text (RFC 4648, section 4), an extension type ``{"ext": code, "data":
    Base64}``, NaN and the infinities text, and a map with a key that is no text an array of
    [key, value] pairs. A model that is written as an array is one here too.

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
    if isinstance(value, Struct) and value.__struct_config__.array_like:
        return list(map(json_form, astuple(value), repeat(ext)))
    if ext and isinstance(value, (Ext, ExtKey)):
        return ext(value)
    form = _FORMS.get(kind)
    return form(value) if form else value


def json_text(model: object, format: str) -> bytes:
    """Return the form of a message, a key, or a list of either, as JSON text.

    Raises:
        EncodeError: It is nested too deep, or holds what no message of the format can.
    """
    try:
        return msgspec.json.encode(json_form(model))
    except RecursionError:
        issue = too_deep("json")
    except (TypeError, ValueError, OverflowError):
        issue = Issue("", "not-encodable", "json", "a model of a message", model)
    raise EncodeError(format, [issue])


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
