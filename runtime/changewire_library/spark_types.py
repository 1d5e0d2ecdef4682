"""Spark types of described columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from changewire_library.fields import Column, Field, Leaf, ListOf, MapOf, Struct

_LEAVES: Final[Mapping[Leaf, DataType]] = {
    "boolean": BooleanType(),
    "int32": IntegerType(),
    "integer": LongType(),
    "number": DoubleType(),
    "bytes": BinaryType(),
    "datetime": TimestampType(),
}
"""Types of scalars; the others are strings."""


def struct_type(struct: Struct) -> StructType:
    """Return the type of a column of structs, with the comments of its fields."""
    return StructType([_field(field) for field in struct.fields])


def _field(field: Field) -> StructField:
    metadata = {"comment": field.comment} if field.comment else None
    return StructField(field.name, _type(field.column), field.presence != "required", metadata)


def _type(column: Column) -> DataType:
    if isinstance(column, Struct):
        return struct_type(column)
    if isinstance(column, ListOf):
        return ArrayType(_type(column.items))
    if isinstance(column, MapOf):
        return MapType(StringType(), _type(column.items))
    return _LEAVES.get(column, StringType())
