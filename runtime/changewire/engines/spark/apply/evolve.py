"""How the columns of a table follow the schemas of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, get_args

from pyspark.sql.types import (
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StructField,
    StructType,
)

from changewire.engines.spark.types import inside
from changewire.tables.metadata import COLUMN

SchemaEvolution = Literal["add_columns", "strict"]
SCHEMA_EVOLUTIONS: Final[tuple[str, ...]] = get_args(SchemaEvolution)
"""What a table does with columns that it lacks, or has of a narrower type: it takes them, or makes
what brings them dead letters."""

_WIDER: Final[Mapping[type[DataType], tuple[type[DataType], ...]]] = {
    ByteType: (ShortType, IntegerType, LongType),
    ShortType: (IntegerType, LongType),
    IntegerType: (LongType,),
    FloatType: (DoubleType,),
}
"""Types that hold every value of a type and that Delta widens it to:
https://docs.delta.io/latest/delta-type-widening.html"""

_MOST_DIGITS: Final = 38
"""Of Spark's decimals."""

Widens = Callable[[DataType, DataType], bool]
"""Whether a column of a type can get a wider one."""


class Evolved(NamedTuple):
    """A table's columns after it followed some schemas.

    Attributes:
        columns: The columns.
        refused: Why a schema does not fit, by its name.
    """

    columns: StructType
    refused: dict[str, str]


def _any(there: DataType, wider: DataType) -> bool:  # noqa: ARG001 - a new table takes all
    return True


def evolved(
    columns: StructType | None,
    schemas: Iterable[tuple[str, StructType]],
    how: SchemaEvolution = "add_columns",
    widens: Widens = _any,
) -> Evolved:
    """Return what a table's columns become by schemas of messages, and which do not fit.

    Args:
        columns: What the table has; None for one that is not there, which takes any column.
        schemas: Names of schemas and the columns that they declare.
        how: Whether a table that is there takes columns and wider types.
        widens: `Delta.widens`, or that of another format, of such a table.
    """
    found = {} if columns is None else {field.name: field for field in columns.fields}
    refused: dict[str, str] = {}
    takes = _any if columns is None else None if how == "strict" else widens
    for name, schema in schemas:
        after = dict(found)
        reasons = [
            reason for field in schema.fields if (reason := _take(after, field, takes)) is not None
        ]
        if reasons:
            refused[name] = "; ".join(reasons)
        else:
            found = after
    return Evolved(StructType([*found.values()]), refused)


def key_fault(keys: Sequence[str], columns: StructType) -> str | None:
    """Return why a table cannot name its rows by some columns; None if it can.

    A column of the key that the table does not have yet is text.
    """
    there = {field.name: field.dataType for field in columns.fields}
    for number, name in enumerate(keys):
        if name in there and _has_map(there[name]):
            return f"column {name!r} is {_text(there[name])}, which cannot be compared"
        same = _same_but_for_case(name, [*keys[:number], *there])
        if same is not None:
            return f"column {name!r} of the key differs from {same!r} in case only"
        if name.lower() == COLUMN:
            return f"column {name!r} of the key has the name of the table's own column {COLUMN}"
    return None


def _has_map(kind: DataType) -> bool:
    """Whether a type is a map, or holds one."""
    return isinstance(kind, MapType) or any(_has_map(part) for _, part in inside(kind))


def _same_but_for_case(name: str, names: Iterable[str]) -> str | None:
    folded = name.lower()
    return next((one for one in names if one != name and one.lower() == folded), None)


def _fault(kind: DataType) -> str | None:
    """Return why no table has a column of a type, or None."""
    if isinstance(kind, StructType):
        if not kind.fields:
            return "it is a struct without fields"
        for number, name in enumerate(kind.names):
            same = _same_but_for_case(name, kind.names[:number])
            if same is not None:
                return f"its field {name!r} differs from {same!r} in case only"
    return next((why for _, part in inside(kind) if (why := _fault(part)) is not None), None)


def _new_fault(found: Iterable[str], field: StructField) -> str | None:
    """Return why a table with some columns cannot have another one, or None."""
    if field.name.lower() == COLUMN:
        return f"column {field.name!r} has the name of the table's own column {COLUMN}"
    same = _same_but_for_case(field.name, found)
    if same is not None:
        return f"column {field.name!r} differs from {same!r} in case only"
    fault = _fault(field.dataType)
    return None if fault is None else f"column {field.name!r} cannot be in a table: {fault}"


def _take(found: dict[str, StructField], field: StructField, takes: Widens | None) -> str | None:
    """Add a column, or widen it; return why it does not fit.

    `takes` says which wider types a column may get; None if columns stay as they are.
    """
    there = found.get(field.name)
    if there is None:
        reason = _new_fault(found, field)
        if reason is None and takes is None:
            reason = f"column {field.name!r} {_text(field.dataType)} is not there"
        if reason is None:
            found[field.name] = field
        return reason
    wider = joined_type(there.dataType, field.dataType)
    is_new = wider is not None and wider != there.dataType
    if wider is None or (is_new and (takes is None or not takes(there.dataType, wider))):
        return (
            f"column {field.name!r} is {_text(there.dataType)}, "
            f"the message has {_text(field.dataType)}"
        )
    found[field.name] = StructField(there.name, wider, nullable=True, metadata=there.metadata)
    return None


def joined_type(one: DataType, other: DataType) -> DataType | None:
    """Return the narrower type that holds all values of two, one of them or decimals; or None."""
    if _text(one) == _text(other):
        return one
    if type(other) in _WIDER.get(type(one), ()):
        return other
    if type(one) in _WIDER.get(type(other), ()):
        return one
    if isinstance(one, DecimalType) and isinstance(other, DecimalType):
        return _decimal(one, other)
    return None


def _decimal(one: DecimalType, other: DecimalType) -> DecimalType | None:
    scale = max(one.scale, other.scale)
    precision = max(one.precision - one.scale, other.precision - other.scale) + scale
    return DecimalType(precision, scale) if precision <= _MOST_DIGITS else None


def _text(kind: DataType) -> str:
    return str(kind.simpleString())
