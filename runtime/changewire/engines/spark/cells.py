"""Values of a row to the Spark types of its columns: exactly, or not at all.

Nothing is rounded, cut, parsed from another kind of text or turned into NULL.
"""

from __future__ import annotations

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

    def fit(value: Any, at: str) -> Any:  # noqa: ANN401 - any value of a message
        if not fits(value):
            raise CellError(at, name, value)
        return str(value) if isinstance(value, str) else value

    return fit


def _float(kind: DoubleType | FloatType) -> Cell:
    name = kind.simpleString()
    import struct  # noqa: PLC0415

    def fit(value: Any, at: str) -> float:  # noqa: ANN401
        if type(value) is float or value in _NON_FINITE or type(value) is int:
            number = float(value)
            single = isinstance(kind, FloatType)
            held = struct.unpack("f", struct.pack("f", number))[0] if single else number
            if held == value or isinstance(value, str):
                return number
        raise CellError(at, name, value)

    return fit


def _decimal(kind: DecimalType) -> Cell:
    name, unit = kind.simpleString(), Decimal(1).scaleb(-kind.scale)
    limit = Decimal(10) ** (kind.precision - kind.scale)

    def fit(value: Any, at: str) -> Decimal:  # noqa: ANN401
        if type(value) in {int, float, str, Decimal}:
            try:
                number = Decimal(repr(value) if type(value) is float else value)
                if number.is_finite() and abs(number) < limit and number % unit == 0:
                    return number
            except InvalidOperation:
                pass
        raise CellError(at, name, value)

    return fit


def _array(item: Cell) -> Cell:
    def fit(value: Any, at: str) -> list[Any]:  # noqa: ANN401
        if type(value) is not list:
            raise CellError(at, "array", value)
        return [None if v is None else item(v, f"{at}/{i}") for i, v in enumerate(value)]

    return fit


def _map(item: Cell) -> Cell:
    def fit(value: Any, at: str) -> dict[str, Any]:  # noqa: ANN401
        if type(value) is not dict:
            raise CellError(at, "map", value)
        return {k: None if v is None else item(v, f"{at}/{_token(k)}") for k, v in value.items()}

    return fit


def _struct(kind: StructType) -> Cell:
    cells = {field.name: cell(field.dataType) for field in kind.fields}

    def fit(value: Any, at: str) -> dict[str, Any]:  # noqa: ANN401
        if type(value) is not dict:
            raise CellError(at, "struct", value)
        for name in value:
            if name not in cells:
                raise CellError(f"{at}/{_token(name)}", "no field of this name", value[name])
        return {
            name: fit_cell(value[name], f"{at}/{_token(name)}")
            for name, fit_cell in cells.items()
            if value.get(name) is not None
        }

    return fit


def _token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
