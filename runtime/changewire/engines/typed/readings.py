"""What columns take of JSON text besides values of their own types.

JSON has no bytes, times, dates or decimals: its text represents them where a column asks for them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time
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
"""Key in the metadata of a column: which schema gave it its type."""

MESSAGE_SCHEMA: Final = "message-schema"
"""A schema that is in the messages, which may say double of numbers with more digits."""

CHANGE_TEXT: Final = "change-text"
"""The JSON text of a change's row, in which numbers beyond a double, times and bytes
are text."""

EXACT_TEXT: Final = "exact-text"
"""The same text, of which no number is rounded: one that a double cannot represent does not fit."""

KEY_TEXT: Final = "key-text"
"""The JSON text of a key, from `changewire.tables.keys.key_text`. No number is rounded: two keys
must not become one."""

JSON: Final = "application/json"
"""Media type of text for any value."""

_SINGLE: Final = struct.Struct("<f")  # native floats become infinite instead of an error
_MIDNIGHT: Final = time()
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


def _time(value: Any, used: list[str]) -> datetime | None:
    """Return the time of a text, as generated validators read it, or as Java writes it."""
    return (time_of(value) if type(value) is str else None) or _java_time(value, used)


def _bytes(value: Any, _used: list[str]) -> bytes | None:
    return base64_bytes(value) if type(value) is str else None


def _number(value: Any, used: list[str]) -> float | None:
    """Return the nearest double of a number, or of its text; None for one beyond all doubles."""
    is_text = type(value) is str and _DECIMAL.fullmatch(value) is not None
    number = Decimal(value) if is_text else value
    if type(number) is not Decimal and type(number) is not int:
        return None
    double = nearest_double(number)
    if not isfinite(double):
        return None
    if is_rounded(double, number):
        used.append(ROUNDED_NUMBER)
    return double


def _date(value: Any, used: list[str]) -> date | None:
    """Return the date of a text, which may be that of a time at which the clock shows midnight."""
    if type(value) is str and _FULL_DATE.fullmatch(value):  # Python 3.11 reads other texts, too
        with suppress(ValueError):
            return date.fromisoformat(value)
    clock = _wall_clock(value, used)
    return clock.date() if clock is not None and clock.time() == _MIDNIGHT else None


def nearest_single(number: float) -> float | None:
    """Return the nearest double that is a single; None for one beyond all singles."""
    try:
        return float(_SINGLE.unpack(_SINGLE.pack(number))[0])
    except OverflowError:
        return None


def _single(value: Any, used: list[str]) -> float | None:
    """Return the nearest single of a number, or of the text of a Decimal; None of other values."""
    mine: list[str] = []
    double = value if type(value) is float else _number(value, mine)
    single = None if double is None else nearest_single(double)
    if single is not None and (mine or not _has_digits(single, double)):
        used.append(ROUNDED_NUMBER)
    return single


def _has_digits(single: float, number: float | None) -> bool:
    """Return whether a single is a number, or has its digits, which are nine at most."""
    texts = (f"{single:.{digits}g}" for digits in range(1, 10))
    return single == number or any(float(text) == number for text in texts)


def _json_text(value: Any, _used: list[str]) -> str | None:
    return None if type(value) is str else msgspec.json.encode(value).decode()


_OF_KEYS: Final[Mapping[pa.DataType, Reading]] = {
    pa.binary(): _bytes,
    pa.timestamp("us", "UTC"): _time,
    pa.timestamp("us"): _wall_clock,
    pa.date32(): _date,
    pa.float32(): _single,
    pa.string(): _json_text,
}
_OF_CHANGES: Final[Mapping[pa.DataType, Reading]] = {**_OF_KEYS, pa.float64(): _number}

READINGS: Final[Mapping[str, Mapping[pa.DataType, Reading]]] = {
    CHANGE_TEXT: _OF_CHANGES,
    EXACT_TEXT: _OF_CHANGES,
    KEY_TEXT: _OF_KEYS,
}
"""What a column of a type takes besides values of this type, by the text that they are from."""


def reading_of_rows(columns: Iterable[pa.Field]) -> str:
    """Return how rows are read into columns of a type: a key of `READINGS`.

    Numbers may be rounded only if a schema in the messages gave the columns their types.
    """
    sources = {(column.metadata or {}).get(TYPED_BY.encode()) for column in columns}
    return CHANGE_TEXT if MESSAGE_SCHEMA.encode() in sources else EXACT_TEXT


def is_json(field: pa.Field) -> bool:
    """Return whether a column of text takes any value as JSON text, which its metadata says."""
    media_type = (field.metadata or {}).get(b"contentMediaType")
    return media_type == JSON.encode() and field.type == pa.string()


def all_json(fields: Iterable[pa.Field]) -> Iterator[bool]:
    """Yield `is_json` of columns and all fields of structs in them, each before its own fields."""
    for field in fields:
        yield is_json(field)
        yield from all_json(_inner_fields(field.type))


def _inner_fields(kind: pa.DataType) -> list[pa.Field]:
    """Return the fields of the struct that a type is, or has in lists and values of maps."""
    if pa.types.is_list(kind):
        return _inner_fields(kind.value_type)
    if pa.types.is_map(kind):
        return _inner_fields(kind.item_type)
    return [*kind] if pa.types.is_struct(kind) else []
