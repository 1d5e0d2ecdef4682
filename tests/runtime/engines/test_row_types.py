"""Types of rows in Arrow are those of Spark, which converts to them and back."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    ArrayType,
    CharType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)
from tests.native.test_nested import struct_of

from changewire.engines.spark.types import arrow_type, nullable, struct_columns
from changewire.engines.typed import types

NO_COLUMNS: list[tuple[DataType, str]] = [
    (DayTimeIntervalType(), "interval day to second"),
    (CharType(3), r"char\(3\)"),
    (ArrayType(VarcharType(5)), r"varchar\(5\)"),
    (MapType(StringType(), NullType()), "void"),
    (StructType([StructField("a", DecimalType(39, 0))]), r"decimal\(39,0\)"),
]


@pytest.mark.parametrize("seed", range(20))
def test_types_of_spark_are_those_of_pyspark_in_arrow(seed: int) -> None:
    """Spark and Arrow have one type for a column, however deep, and one name for it."""
    kind = struct_of(random.Random(seed), 4)  # noqa: S311 - the same in each run
    columns = struct_columns(kind)
    plain = types.without_metadata(columns)
    assert plain.equals(pa.schema([*arrow_type(nullable(kind))]), check_metadata=True)
    back = types.columns_as_json(columns)
    assert StructType.fromJson(back) == kind
    assert types.sql_name(back) == kind.simpleString()
    assert types.type_name(pa.struct([*columns])) == kind.simpleString()
    assert types.row_columns(columns).equals(columns, check_metadata=True)


@pytest.mark.parametrize(("kind", "name"), NO_COLUMNS)
def test_types_of_spark_that_no_row_has(kind: DataType, name: str) -> None:
    """They are refused by the names that Spark has for them, before a message is read."""
    with pytest.raises(ValueError, match=f"a row has no column of type {name}$"):
        struct_columns(StructType([StructField("c", kind)]))


def test_columns_may_be_null_whatever_the_type_says() -> None:
    """A message may lack any value."""
    inner = StructType([StructField("a", LongType(), nullable=False)])
    kind = StructType([StructField("c", ArrayType(inner, containsNull=False), nullable=False)])
    (column,) = struct_columns(kind)
    assert column.nullable
    assert column.type.value_field.nullable
    assert column.type.value_type.field("a").nullable


def test_metadata_that_is_no_text_is_left_out() -> None:
    """Arrow's metadata is text; what typed rows read of it is."""
    metadata = {"comment": "A column.", "rank": 3, "contentMediaType": "application/json"}
    (column,) = struct_columns(StructType([StructField("c", StringType(), metadata=metadata)]))
    assert column.metadata == {b"comment": b"A column.", b"contentMediaType": b"application/json"}
