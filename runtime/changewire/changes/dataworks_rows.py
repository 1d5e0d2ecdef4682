"""Rows of DataWorks messages: the types of their columns, and the schema that declares them."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec
from msgspec import Struct

from changewire.changes.change_table import source_of
from changewire.changes.values import (
    NUMERIC,
    MismatchError,
    base64_bytes,
    fingerprint,
    from_milliseconds,
)
from changewire_messages import dataworks_json as wire
from changewire_messages.change import Source
from changewire_messages.dataworks_json import changes, values
from changewire_messages.support import by_text

Read = Callable[[Any, list[str]], Any]
"""From the value of a column, which is not null, to its typed value; adds names of leniencies.

Raises `MismatchError` for a value that contradicts the type.
"""

INT64: Final = range(-(2**63), 2**63)
_LONG: Final = range(-(2**63), 2**64)
_MOST_DIGITS: Final = 1000
"""Characters of numeric text that are read; a decimal of a database has less than 100."""
_NOT_FINITE: Final = {text.lower(): text for text in ("NaN", "Infinity", "-Infinity")}


def _of(kind: type, expected: str) -> Read:
    """Return a reader of values that stay as they are."""

    def read(value: Any, _used: list[str]) -> Any:
        if type(value) is not kind:
            raise MismatchError(expected)
        return value

    return read


def _long(value: Any, used: list[str]) -> int:
    """Return an integer of 64 bits, with or without a sign."""
    if type(value) is not int or value not in _LONG:
        raise MismatchError("an integer of 64 bits")
    if value not in INT64:
        used.append("unsigned-long")
    return value


def _date(value: Any, used: list[str]) -> Any:
    if type(value) is not int:
        raise MismatchError("milliseconds since the Unix epoch")
    try:
        return from_milliseconds(value)
    except OverflowError:
        used.append("time-out-of-range")
        return value


def _bytes(value: Any, _used: list[str]) -> bytes:
    found = base64_bytes(value) if type(value) is str else None
    if found is None:
        raise MismatchError("Base64 text")
    return found


def _double(value: Any, used: list[str]) -> Any:
    """Return a number as it is, and numeric text as a decimal with every digit."""
    if type(value) in {float, int, Decimal}:
        return value
    if type(value) is str and value.lower() in _NOT_FINITE:
        used.append("non-finite-text")
        return _NOT_FINITE[value.lower()]
    if type(value) is not str or len(value) > _MOST_DIGITS or not NUMERIC.fullmatch(value):
        raise MismatchError("a number, or numeric text")
    try:
        found = Decimal(value)
    except InvalidOperation:  # an exponent of more digits than decimals have
        raise MismatchError("a number, or numeric text") from None
    used.append("numeric-text")
    return found


def unknown_type(value: Any, used: list[str]) -> Any:
    """Return the value of a column whose type is not known, as in JSON."""
    used.append("unknown-column-type")
    return value


_READERS: Final[Mapping[str, Read]] = {
    "boolean": _of(bool, "a boolean"),
    "base64": _bytes,
    "timestamp-milliseconds": _date,
    "decimal": _double,
    "integer": _long,
    "text": _of(str, "a text"),
}
_KEPT: Final = {"boolean": bool, "decimal": float, "integer": int, "text": str}

COLUMN_TYPES: Final[Mapping[str, Read]] = {
    known.value: _READERS[known.means] for known in values.COLUMN_TYPE_TYPE
}
"""Reader of each type that the format document names."""

KEPT_TYPES: Final[Mapping[str, type]] = {
    known.value: _KEPT[known.means] for known in values.COLUMN_TYPE_TYPE if known.means in _KEPT
}
"""The type of the values that stay as they are; an integer only if it is one of `INT64`."""


class TableSchema(Struct, frozen=True):
    """What the schema of a message says, made ready once for all messages that have it."""

    source: Source
    readers: Mapping[str, Read]
    kinds: Mapping[str, type]
    primary_key: Sequence[str]
    is_key_declared: bool
    fingerprint: str
    attributes: Mapping[str, Any]


def _build(text: bytes) -> TableSchema:
    """Make a schema ready: a reader for each column, and what every change of it says."""
    schema = msgspec.json.decode(text, type=wire.DataSchema)
    columns, primary_key = schema.data_column or (), schema.primary_key or ()
    names = {column.name for column in columns}
    return TableSchema(
        source=source_of(
            changes.SYSTEM, *(name or None for name in changes.source_of_schema(schema))
        ),
        readers={column.name: COLUMN_TYPES.get(column.type, unknown_type) for column in columns},
        kinds={c.name: KEPT_TYPES[c.type] for c in columns if c.type in KEPT_TYPES},
        primary_key=primary_key,
        is_key_declared=bool(primary_key) and names.issuperset(primary_key),
        fingerprint=fingerprint(text),
        attributes=changes.attributes_of_schema(schema),
    )


table_of: Final = by_text(_build)
"""What the text of a schema says."""
