"""The column types of DataWorks: what a value of each may be, and what it becomes."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from changewire.changes.values import MismatchError, base64_bytes, from_milliseconds

Read = Callable[[Any, list[str]], Any]
"""From the value of a column, which is not null, to its typed value; adds names of leniencies.

Raises `MismatchError` for a value that contradicts the type.
"""

INT64: Final = range(-(2**63), 2**63)
_MOST_DIGITS: Final = 1000
"""Characters of numeric text that are read; a decimal of a database has less than 100."""
_NUMERIC: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def _boolean(value: Any, used: list[str]) -> bool:
    del used
    if type(value) is not bool:
        raise MismatchError("a boolean")
    return value


def _date(value: Any, used: list[str]) -> Any:
    if type(value) is not int:
        raise MismatchError("milliseconds since the Unix epoch")
    try:
        return from_milliseconds(value)
    except OverflowError:
        used.append("time-out-of-range")
        return value


def _bytes(value: Any, used: list[str]) -> bytes:
    del used
    found = base64_bytes(value) if type(value) is str else None
    if found is None:
        raise MismatchError("Base64 text")
    return found


def _string(value: Any, used: list[str]) -> str:
    del used
    if type(value) is not str:
        raise MismatchError("a text")
    return value


def _long(value: Any, used: list[str]) -> int:
    del used
    if type(value) is not int or value not in INT64:
        raise MismatchError("an integer of 64 bits")
    return value


def _double(value: Any, used: list[str]) -> Any:
    """Return a number as it is, and numeric text as a decimal with every digit."""
    if type(value) in {float, int, Decimal}:
        return value
    # Decimal by itself also takes NaN, blanks, underscores and the digits of other scripts.
    if type(value) is not str or len(value) > _MOST_DIGITS or not _NUMERIC.fullmatch(value):
        raise MismatchError("a number, or numeric text")
    try:
        found = Decimal(value)
    except InvalidOperation:  # an exponent of more digits than decimals have
        raise MismatchError("a number, or numeric text") from None
    used.append("numeric-text")
    return found


def unknown_type(value: Any, used: list[str]) -> Any:
    """Return the value of a column whose type is not known, as JSON has it."""
    used.append("unknown-column-type")
    return value


COLUMN_TYPES: Final[Mapping[str, Read]] = {
    "BOOLEAN": _boolean,
    "BYTES": _bytes,
    "DATE": _date,
    "DOUBLE": _double,
    "LONG": _long,
    "STRING": _string,
}
"""Reader of each type that the format document names."""

KEPT_TYPES: Final[Mapping[str, type]] = {
    "BOOLEAN": bool,
    "DOUBLE": float,
    "LONG": int,
    "STRING": str,
}
"""The type of the values that stay as they are; an integer only if it is one of `INT64`."""
