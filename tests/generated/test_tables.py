"""The columns that changewire writes itself: the same ones in Arrow, in Spark and in Python."""

from __future__ import annotations

import pytest
from msgspec.structs import fields
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructType

from changewire_messages import tables
from changewire_messages.tables import arrow, spark

SEQUENCE = "struct<major:bigint,minor:bigint>"
ORDER = f"sequence:{SEQUENCE},topic:string,partition:int,offset:bigint,element:int"
NOTE = "op:string,event_time:timestamp"
EXPECTED = {
    "ORDER_FIELDS": f"struct<{ORDER}>",
    "ROW_END": f"struct<{NOTE},{ORDER}>",
    "ROW_STATE": (
        "struct<major:bigint,minor:bigint,topic:string,partition:int,offset:bigint,element:int,"
        "deleted:boolean,columns:string,rescued:string>"
    ),
    "ROW_MUTATION": (f"struct<key:string,kind:string,sequence:{SEQUENCE},names:array<string>>"),
    "VERSION_METADATA": f"struct<{ORDER},{NOTE},ended:struct<{NOTE},{ORDER}>>",
}
"""Stored tables and checkpoints have these columns: a change here makes them unreadable."""


def nullable(kind: DataType) -> bool:
    """Return whether every column may be NULL, at any depth, and none has metadata."""
    if isinstance(kind, StructType):
        return all(f.nullable and not f.metadata and nullable(f.dataType) for f in kind.fields)
    return True


@pytest.mark.parametrize("name", EXPECTED)
def test_columns_are_those_of_stored_tables(name: str) -> None:
    """Names, types and nullability of a stored column never change."""
    kind = getattr(spark, name)
    assert kind.simpleString() == EXPECTED[name]
    assert nullable(kind)


@pytest.mark.parametrize("name", EXPECTED)
def test_arrow_and_spark_agree(name: str) -> None:
    """Spark reads a column that Arrow wrote as the type that it has in Spark."""
    assert from_arrow_type(getattr(arrow, name), prefer_timestamp_ntz=True) == getattr(spark, name)


@pytest.mark.parametrize("name", EXPECTED)
def test_models_have_the_columns(name: str) -> None:
    """A model has a field for each column, in their order."""
    model = getattr(tables, name.title().replace("_", ""))
    assert [field.encode_name for field in fields(model)] == getattr(spark, name).names


def test_every_table_is_held_by_these_tests() -> None:
    """A new table has a line above."""
    assert set(spark.__all__) == set(arrow.__all__) == set(EXPECTED)
