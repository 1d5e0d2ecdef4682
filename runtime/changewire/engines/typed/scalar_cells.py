"""Values to the types that hold no others: exactly, or not at all."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyarrow as pa

from changewire.changes.connect.scalars import is_rounded, nearest_double
from changewire.codec import Issue
from changewire.engines.typed.types import type_name

Cell = Callable[[Any, str, list[str]], Any]
"""Takes a value, its JSON Pointer and a list that gets the leniencies that the value needs; returns
what the column holds."""


class CellError(ValueError):
    """A value does not fit its column, or has none to itself.

    Attributes:
        issue: Where, and what the column asks for.
    """

    def __init__(
        self, pointer: str, expected: str, actual: object, code: str = "wrong-type"
    ) -> None:
        """Name the place, the column's type and the value."""
        self.issue = Issue(pointer, code, "row", expected, actual)
        super().__init__(str(self.issue))


def _bits(count: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and -(2 ** (count - 1)) <= value < 2 ** (count - 1)


_INTEGERS: Final = {
    pa.int8(): "which holds -128 to 127",
    pa.int16(): "which holds -32768 to 32767",
    pa.int32(): "which holds -2^31 to 2^31 - 1",
    pa.int64(): "which holds -2^63 to 2^63 - 1",
}
"""What integer types say of an integer that is none of theirs."""

EXACT: Final[Mapping[pa.DataType, Callable[[Any], bool]]] = {
    pa.bool_(): lambda value: type(value) is bool,
    pa.int8(): _bits(8),
    pa.int16(): _bits(16),
    pa.int32(): _bits(32),
    pa.int64(): _bits(64),
    pa.string(): lambda value: isinstance(value, str),
    pa.binary(): lambda value: type(value) is bytes,
    pa.timestamp("us", "UTC"): lambda value: type(value) is datetime,
    pa.timestamp("us"): lambda value: type(value) is datetime,
    pa.date32(): lambda value: type(value) is date,
}
"""Types that hold a value as it is, with the test that they do."""

_MIDNIGHT: Final = time()
_FLOATING: Final = frozenset({pa.float32(), pa.float64()})
_SINGLE: Final = struct.Struct("f")
_NON_FINITE: Final = {"NaN", "Infinity", "-Infinity"}


def _as_it_is(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value


def _wall_clock(value: Any) -> Any:
    """Return what the clock shows at a time, by the offset that the time has."""
    return value.replace(tzinfo=None) if type(value) is datetime else value


def _day(value: Any) -> Any:
    """Return the date of a time at which the clock shows midnight."""
    is_midnight = type(value) is datetime and _wall_clock(value).time() == _MIDNIGHT
    return value.date() if is_midnight else value


_HELD: Final[Mapping[pa.DataType, Callable[[Any], Any]]] = {
    pa.timestamp("us"): _wall_clock,
    pa.date32(): _day,
}
"""What types without a zone hold of a time."""


def scalar_cell(kind: pa.DataType) -> Cell | None:
    """Return what fits values into a type that holds no others; None if a row has no such."""
    if kind in EXACT:
        return _exact(kind)
    if pa.types.is_decimal128(kind):
        return _decimal(kind)
    return _floating(kind) if kind in _FLOATING else None


def _exact(kind: pa.DataType) -> Cell:
    """Return what fits values into a type of `EXACT`."""
    fits, held = EXACT[kind], _HELD.get(kind, _as_it_is)
    name, integers = type_name(kind), _INTEGERS.get(kind)

    def fit(value: Any, at: str, _used: list[str]) -> Any:
        found = held(value)
        if fits(found):
            return found
        is_beyond = integers is not None and type(value) is int
        raise CellError(at, f"{name}, {integers}" if is_beyond else name, value)

    return fit


def _floating(kind: pa.DataType) -> Cell:
    """Return what fits numbers into a double or float: those that it holds exactly."""
    name, is_single = type_name(kind), kind == pa.float32()

    def fit(value: Any, at: str, _used: list[str]) -> float:
        if type(value) is str and value in _NON_FINITE:
            return float(value)
        number = value if type(value) is float else _exact_double(value)
        if number is not None and (not is_single or _is_single(number)):
            return float(number)
        raise CellError(at, name, value)

    return fit


def _exact_double(value: Any) -> float | None:
    """Return the double that is an integer, or has the digits of a decimal; None without one."""
    if type(value) not in {int, Decimal}:
        return None
    number = nearest_double(value)
    is_same = number == value if type(value) is int else not is_rounded(number, value)
    return number if is_same else None


def _is_single(number: float) -> bool:
    try:
        return bool(_SINGLE.unpack(_SINGLE.pack(number))[0] == number)
    except OverflowError:
        return False


def _decimal(kind: pa.Decimal128Type) -> Cell:
    """Return what fits numbers, and numeric text, into a decimal that has room for them."""
    name = type_name(kind)

    def fit(value: Any, at: str, _used: list[str]) -> Decimal:
        if type(value) in {int, float, str, Decimal}:
            try:
                number = Decimal(repr(value) if type(value) is float else value)
            except InvalidOperation:
                raise CellError(at, name, value) from None
            if number.is_finite() and _has_room(number, kind):
                return number
        raise CellError(at, name, value)

    return fit


def _has_room(number: Decimal, kind: pa.Decimal128Type) -> bool:
    """Count digits: arithmetic would round to the precision of the context."""
    _, digits, exponent = number.as_tuple()
    significant = "".join(map(str, digits)).lstrip("0").rstrip("0")
    lowest = int(exponent) + len(digits) - len("".join(map(str, digits)).rstrip("0"))
    highest = lowest + len(significant)
    return not significant or (lowest >= -kind.scale and highest <= kind.precision - kind.scale)
