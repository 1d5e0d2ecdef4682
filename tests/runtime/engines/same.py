"""Whether two values are the same one, types included: in a model, in a change, in JSON text."""

import json
import math
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from changewire_messages.columns import exact_texts
from changewire_messages.support import Extra

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _of_iso(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


_OF_TEXT: Mapping[type, Callable[[str], Any]] = {
    bytes: lambda text: b64decode(text, validate=True),
    Decimal: Decimal,
    datetime: _of_iso,
    date: date.fromisoformat,
    time: time.fromisoformat,
    timedelta: lambda text: msgspec.convert(text, timedelta),
}
"""Types that are text in JSON, and what reads it."""


def parsed(text: str | None) -> Any:
    """Return the value of JSON text, every number with its digits; None for no text."""
    return None if text is None else json.loads(text, parse_float=Decimal)


def in_text(found: Any, value: Any) -> bool:
    """Tell whether JSON, parsed with every digit, is what the text of a value says."""
    if isinstance(value, Struct):
        value = properties(value)
    if isinstance(value, Mapping):
        return _in_object(found, value)
    if isinstance(value, (list, tuple)):
        return isinstance(found, list) and _all(in_text, found, value)
    if type(value) in _OF_TEXT:
        return isinstance(found, str) and _is_one_of(value, _read(_OF_TEXT[type(value)], found))
    if isinstance(value, float):
        return _number(found, value)
    if hasattr(value, "code") and hasattr(value, "data"):
        return in_text(found, {"ext": value.code, "data": bytes(value.data)})
    return _equal(found, str(value) if isinstance(value, str) else value)


def in_change(found: Any, value: Any) -> bool:
    """Tell whether a value of a change is what a value of a message means.

    It is the same value of the same type, or one of a type that its schema, or its format, gives
    to such a value: what JSON has as text or number is bytes, a decimal or a time.
    """
    if isinstance(found, (bytes, Decimal, datetime, date, time)) and not isinstance(value, bytes):
        return _is_one_of(found, _meanings(value, type(found)))
    if isinstance(found, dict) and isinstance(value, dict) and found.keys() == value.keys():
        return all(in_change(found[name], value[name]) for name in found)
    if isinstance(found, list) and isinstance(value, list):
        return _all(in_change, found, value)
    return (
        _equal(found, value)
        or _is_geojson(found, value)
        or (not isinstance(value, str) and in_text(_exact(found), value))
    )


def properties(model: Struct) -> dict[str, Any]:
    """Return what a model holds, by the names of columns; what is absent is left out.

    A name on the wire begins with @ where no message has it: that of unknown properties, and of a
    tag that no other variant has.
    """
    config = model.__struct_config__
    tag = {config.tag_field: config.tag} if config.tag_field else {}
    names = zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True)
    found = {_column(name): getattr(model, attribute) for attribute, name in names}
    found.pop("alone", None)  # the columns are those of the whole message; it is a leniency
    found.pop("named", None)  # columns have the names of the schema
    return {**tag, **{name: value for name, value in found.items() if value is not UNSET}}


def _column(name: str) -> str:
    return "_extra" if name == "@extra" else name.removeprefix("@")


Says = Callable[[str, Any], bool]
"""Tells whether JSON text in a column says a value."""

SAYS: Mapping[str, Says] = {
    "json": lambda text, value: in_text(parsed(text), value),
    # What JSON lacks has a form there, which test_msgpack_columns.py compares with the values.
    "msgpack": lambda text, value: (
        exact_texts([dict(value) if isinstance(value, Extra) else value]).to_pylist() == [text]
    ),
}


def check_struct(row: dict[str, Any], model: Struct, says: Says) -> None:
    """Check that columns hold the properties of a model; those of its other variants are NULL."""
    values = properties(model)
    assert values.keys() <= row.keys()
    for name, found in row.items():
        _check_value(found, values.get(name), says)


def _check_value(found: Any, value: Any, says: Says) -> None:
    if isinstance(found, dict):
        check_struct(found, value, says)
    elif isinstance(found, list):
        assert len(found) == len(value)
        for one, other in zip(found, value, strict=True):
            _check_value(one, other, says)
    elif isinstance(value, Raw):
        assert (found or "null").encode() == bytes(value)
    elif isinstance(found, (bytes, bytearray)):
        assert bytes(found) == value
    elif isinstance(found, str) and found != value:
        assert says(found, value)
    else:
        assert found == value
        assert type(found) is (str if isinstance(value, str) else type(value))


def _in_object(found: Any, value: Mapping[Any, Any]) -> bool:
    if any(type(name) is not str for name in value):
        return isinstance(found, list) and _all(in_text, found, [list(p) for p in value.items()])
    named = isinstance(found, dict) and found.keys() == value.keys()
    return named and all(in_text(found[name], value[name]) for name in value)


def _all(same: Callable[[Any, Any], bool], found: list[Any], values: Any) -> bool:
    return len(found) == len(values) and all(map(same, found, values))


def _equal(found: Any, value: Any) -> bool:
    """Tell whether values are equal, of one type, and, if decimals, of the same digits."""
    if type(found) is not type(value):
        return False
    if isinstance(value, Decimal):
        return bool(found.as_tuple() == value.as_tuple())
    return bool(found == value)


def _is_one_of(value: Any, others: list[Any]) -> bool:
    return any(_equal(other, value) for other in others)


def _number(found: Any, value: float) -> bool:
    if not math.isfinite(value):
        return isinstance(found, str) and _equal(repr(float(found)), repr(value))
    return type(found) is Decimal and _equal(float(found), value)


def _exact(found: Any) -> Any:
    """Return a value of a change as its JSON text is parsed."""
    return parsed(msgspec.json.encode(found).decode())


def _is_geojson(found: Any, value: Any) -> bool:
    """Tell whether an object is that of GeoJSON text, or of an extension type that holds some."""
    if not isinstance(found, dict):
        return False
    text = bytes(value.data) if getattr(value, "code", None) == 23 else value
    return isinstance(text, (str, bytes)) and [found] == _read(json.loads, text)


def _meanings(value: Any, kind: type) -> list[Any]:
    """Return what a text or a number may mean where it stands for a value of a type."""
    if isinstance(value, str):
        decimals = [_of_unscaled(value, scale) for scale in range(10)] if kind is Decimal else []
        return [*decimals, *_read(_OF_TEXT[kind], value)]
    if kind is Decimal:
        return [Decimal(str(value))]
    if kind is date:
        return [EPOCH.date() + timedelta(days=value)]
    units = [value * 1000, value, *([] if value % 1000 else [value // 1000])]
    at = [moment for unit in units for moment in _read(_of_microseconds, unit)]
    return [moment.time() for moment in at] if kind is time else at


def _of_microseconds(number: int) -> datetime:
    return EPOCH + timedelta(microseconds=number)


def _read(read: Callable[[Any], Any], value: Any) -> list[Any]:
    """Return what is read; nothing where it cannot be."""
    try:
        return [read(value)]
    except (ArithmeticError, ValueError):
        return []


def _of_unscaled(text: str, scale: int) -> Decimal | None:
    """Return the decimal that Base64 text of an unscaled number stands for (Kafka Connect)."""
    (data,) = _read(_OF_TEXT[bytes], text) or [b""]
    return Decimal(int.from_bytes(data, "big", signed=True)).scaleb(-scale) if data else None
