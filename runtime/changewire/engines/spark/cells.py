"""Values of a row to the Spark types of its columns: exactly, or not at all.

Nothing is rounded, cut, parsed from another kind of text or turned into NULL.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampType,
)

from changewire.codec import Issue
from changewire_messages.support import pointer_token

Cell = Callable[[Any, str], Any]
"""Takes a value and its JSON Pointer; returns what the column holds."""


class CellError(ValueError):
    """A value does not fit its column.

    Attributes:
        issue: Where, and what the column asks for.
    """

    def __init__(self, pointer: str, expected: str, actual: object) -> None:
        """Name the place, the column's type and the value."""
        self.issue = Issue(pointer, "wrong-type", "row", expected, actual)
        super().__init__(str(self.issue))


def _bits(count: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and -(2 ** (count - 1)) <= value < 2 ** (count - 1)


_EXACT: Final[Mapping[type[DataType], Callable[[Any], bool]]] = {
    BooleanType: lambda value: type(value) is bool,
    ByteType: _bits(8),
    ShortType: _bits(16),
    IntegerType: _bits(32),
    LongType: _bits(64),
    StringType: lambda value: isinstance(value, str),
    BinaryType: lambda value: type(value) is bytes,
    TimestampType: lambda value: type(value) is datetime,
    DateType: lambda value: type(value) is date,
}
"""Types that hold a value as it is, with the test that they do."""

_SINGLE: Final = struct.Struct("f")
_NON_FINITE: Final = {"NaN", "Infinity", "-Infinity"}


def cell(kind: DataType) -> Cell:
    """Return the function that fits values into a type.

    Raises:
        ValueError: No value of a message can be of this type.
    """
    if type(kind) in _EXACT:
        return _exact(kind)
    if isinstance(kind, (DoubleType, FloatType)):
        return _float(kind)
    if isinstance(kind, DecimalType):
        return _decimal(kind)
    if isinstance(kind, ArrayType):
        return _array(cell(kind.elementType))
    if isinstance(kind, MapType) and isinstance(kind.keyType, StringType):
        return _map(cell(kind.valueType))
    if isinstance(kind, StructType):
        return _struct(kind)
    raise ValueError(f"a row has no column of type {kind.simpleString()}")


def _exact(kind: DataType) -> Cell:
    fits, name = _EXACT[type(kind)], kind.simpleString()

    def fit(value: Any, at: str) -> Any:
        if not fits(value):
            raise CellError(at, name, value)
        return str(value) if isinstance(value, str) else value

    return fit


def _float(kind: DoubleType | FloatType) -> Cell:
    name, is_single = kind.simpleString(), isinstance(kind, FloatType)

    def fit(value: Any, at: str) -> float:
        if type(value) is str and value in _NON_FINITE:
            return float(value)
        if type(value) in {int, float}:
            try:
                number = float(value)
                held = _SINGLE.unpack(_SINGLE.pack(number))[0] if is_single else number
            except OverflowError:
                raise CellError(at, name, value) from None
            if held == value:
                return number
        raise CellError(at, name, value)

    return fit


def _decimal(kind: DecimalType) -> Cell:
    name = kind.simpleString()

    def fit(value: Any, at: str) -> Decimal:
        if type(value) in {int, float, str, Decimal}:
            try:
                number = Decimal(repr(value) if type(value) is float else value)
            except InvalidOperation:
                raise CellError(at, name, value) from None
            if number.is_finite() and _has_room(number, kind):
                return number
        raise CellError(at, name, value)

    return fit


def _has_room(number: Decimal, kind: DecimalType) -> bool:
    """Count digits: arithmetic would round to the precision of the context."""
    _, digits, exponent = number.as_tuple()
    significant = "".join(map(str, digits)).lstrip("0").rstrip("0")
    lowest = int(exponent) + len(digits) - len("".join(map(str, digits)).rstrip("0"))
    highest = lowest + len(significant)
    return not significant or (lowest >= -kind.scale and highest <= kind.precision - kind.scale)


def _array(item: Cell) -> Cell:
    def fit(value: Any, at: str) -> list[Any]:
        if type(value) is not list:
            raise CellError(at, "array", value)
        return [None if v is None else item(v, f"{at}/{i}") for i, v in enumerate(value)]

    return fit


def _map(item: Cell) -> Cell:
    def fit(value: Any, at: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise CellError(at, "map", value)
        return {
            k: None if v is None else item(v, f"{at}/{pointer_token(k)}") for k, v in value.items()
        }

    return fit


def _struct(kind: StructType) -> Cell:
    cells = {field.name: cell(field.dataType) for field in kind.fields}

    def fit(value: Any, at: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise CellError(at, "struct", value)
        for name in value:
            if name not in cells:
                raise CellError(f"{at}/{pointer_token(name)}", "no field of this name", value[name])
        return {
            name: fit_cell(value[name], f"{at}/{pointer_token(name)}")
            for name, fit_cell in cells.items()
            if value.get(name) is not None
        }

    return fit
