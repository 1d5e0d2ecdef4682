"""Second readings of values, for columns that a schema gave their type.

A type that a user writes has its own values and no others. A schema speaks
of values as in messages, so text may represent a time, or a number of any size for a double.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, Final

import msgspec
import pyarrow as pa

from changewire.changes.connect.reads import ROUNDED_NUMBER
from changewire.changes.connect.scalars import is_rounded, nearest_double
from changewire.changes.connect.times import (
    UnrepresentableError,
    timestamp_of_text,
    wall_clock_of_text,
)
from changewire.changes.values import base64_bytes
from changewire_messages.checks import time_of

TYPED_BY: Final = "changewire.typed_by"
"""Key in the metadata of a column: which schema gave it its type, a key of `READINGS`."""

ROW_SCHEMA: Final = "row-schema"
"""A JSON Schema of the rows."""

MESSAGE_SCHEMA: Final = "message-schema"
"""A schema that is in the messages."""

CHANGE_TEXT: Final = "change-text"
"""The JSON text of a change's row, in which numbers beyond a double, times and bytes
are text."""

EXACT_TEXT: Final = "exact-text"
"""The same text, of which no number is rounded: one that a double cannot represent does not fit."""

KEY_TEXT: Final = "key-text"
"""The JSON text of a key, from `changewire.tables.keys.key_text`. Its numbers are not rounded:
two keys must not become one."""

JSON: Final = "application/json"
"""Media type of text for any value."""

_SINGLE: Final = struct.Struct("<f")  # native floats become infinite instead of an error
_MIDNIGHT: Final = time()
_INT64: Final = range(-(2**63), 2**63)
_FULL_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DECIMAL: Final = re.compile(r"-?\d+(?:\.\d+)?(?:E[+-]?\d+)?", re.ASCII)
"""Text of a `Decimal` that is a number."""

Reading = Callable[[Any, list[str]], Any]
"""Takes a value and a list that gets leniencies; returns None if it has no reading for it."""


def _of_text(read: Callable[[str], datetime]) -> Reading:
    """Return what reads times that are text."""

    def reading(value: Any, _used: list[str]) -> datetime | None:
        if type(value) is not str:
            return None
        try:
            return read(value)
        except (UnrepresentableError, OverflowError, ValueError):
            return None

    return reading


_java_time: Final = _of_text(timestamp_of_text)
_wall_clock: Final = _of_text(wall_clock_of_text)


def _time(value: Any, _used: list[str]) -> datetime | None:
    """Return the time of a text, as generated validators and models read it."""
    return time_of(value) if type(value) is str else None


def _full_date(value: Any, _used: list[str]) -> date | None:
    """Return the date of a text (RFC 3339)."""
    is_text = type(value) is str and _FULL_DATE.fullmatch(value) is not None
    return _date(value, _used) if is_text else None


def _logged_time(value: Any, used: list[str]) -> datetime | None:
    """Return also the time of other texts that Java writes."""
    return _time(value, used) or _java_time(value, used)


def _bytes(value: Any, _used: list[str]) -> bytes | None:
    return base64_bytes(value) if type(value) is str else None


def _rounded(value: Any, used: list[str]) -> float | None:
    """Return the nearest double of a number; None for one beyond all doubles."""
    if type(value) is not Decimal and type(value) is not int:
        return None
    double = nearest_double(value)
    if not isfinite(double):
        return None
    if is_rounded(double, value):
        used.append(ROUNDED_NUMBER)
    return double


def _number(value: Any, used: list[str]) -> float | None:
    """Return the nearest double of a number, or of the text of a Decimal."""
    is_text = type(value) is str and _DECIMAL.fullmatch(value) is not None
    return _rounded(Decimal(value) if is_text else value, used)


def _text(value: Any, _used: list[str]) -> Any:
    """Return the text that a time of day, a duration and a decimal have in a row of JSON text.

    Integers of more than 64 bits, which no column of integers represents, have that of their
    digits.
    """
    if type(value) is int and value not in _INT64:
        return str(value)
    return msgspec.to_builtins(value) if type(value) in {time, timedelta, Decimal} else None


def _row_text(value: Any, used: list[str]) -> Any:
    """Return also the text that dates and times have there."""
    return msgspec.to_builtins(value) if isinstance(value, date) else _text(value, used)


def _date(value: Any, used: list[str]) -> date | None:
    """Return the date of a text, which may be that of a time at which the clock shows midnight."""
    try:
        return date.fromisoformat(value) if type(value) is str else None
    except ValueError:
        clock = _wall_clock(value, used)
        return clock.date() if clock is not None and clock.time() == _MIDNIGHT else None


def nearest_single(number: float) -> float | None:
    """Return the nearest double that is a single; None for one beyond all singles."""
    try:
        return float(_SINGLE.unpack(_SINGLE.pack(number))[0])
    except OverflowError:
        return None


def _single(value: Any, used: list[str]) -> float | None:
    double = value if type(value) is float else _number(value, used)
    return None if double is None else nearest_single(double)


def _json_text(value: Any, _used: list[str]) -> str | None:
    return None if type(value) is str else msgspec.json.encode(value).decode()


_OF_KEYS: Final[Mapping[pa.DataType, Reading]] = {
    pa.binary(): _bytes,
    pa.timestamp("us", "UTC"): _logged_time,
    pa.timestamp("us"): _wall_clock,
    pa.date32(): _date,
    pa.float32(): _single,
    pa.string(): _json_text,
}
_OF_CHANGES: Final[Mapping[pa.DataType, Reading]] = {**_OF_KEYS, pa.float64(): _number}

READINGS: Final[Mapping[str, Mapping[pa.DataType, Reading]]] = {
    ROW_SCHEMA: {
        pa.binary(): _bytes,
        pa.date32(): _full_date,
        pa.string(): _row_text,
        pa.timestamp("us", "UTC"): _time,
    },
    MESSAGE_SCHEMA: {pa.float64(): _rounded, pa.string(): _text},
    CHANGE_TEXT: _OF_CHANGES,
    EXACT_TEXT: _OF_CHANGES,
    KEY_TEXT: _OF_KEYS,
}
"""What a column of a type takes besides values of this type, by the schema that it is from."""


def reading_of(field: pa.Field, typed_by: str = "") -> str:
    """Return which schema gave a column its type: a key of `READINGS`, or empty for none.

    It is `typed_by` if the metadata does not say it. Of text whose metadata says
    ``"contentMediaType": "application/json"``, and which holds any value as JSON, it is `JSON`.
    """
    metadata = field.metadata or {}
    if metadata.get(b"contentMediaType") == JSON.encode() and field.type == pa.string():
        return JSON
    found = metadata.get(TYPED_BY.encode(), typed_by.encode()).decode(errors="replace")
    return found if found in READINGS else ""


def untyped(column: pa.Field) -> pa.Field:
    """Return a column that does not say which schema gave it its type."""
    metadata = {k: v for k, v in (column.metadata or {}).items() if k != TYPED_BY.encode()}
    return column.with_metadata(metadata)


def kernel_readings(fields: Iterable[pa.Field], typed_by: str = "") -> Iterator[str]:
    """Yield `reading_of` columns and all fields of structs in them, each before its own fields."""
    for field in fields:
        reading = reading_of(field, typed_by)
        yield reading
        yield from kernel_readings(_inner_fields(field.type), reading)


def _inner_fields(kind: pa.DataType) -> list[pa.Field]:
    """Return the fields of the struct that a type is, or has in lists and values of maps."""
    if pa.types.is_list(kind):
        return _inner_fields(kind.value_type)
    if pa.types.is_map(kind):
        return _inner_fields(kind.item_type)
    return [*kind] if pa.types.is_struct(kind) else []
