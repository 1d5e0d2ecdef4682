"""Tables that are there, or are made: the one of a target, and that of its tombstones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from changewire.engines.errors import OutputError
from changewire.engines.kept import (
    KEYS,
    SUFFIX,
    TRUNCATED,
    order_text,
    order_value,
    property_text,
    property_value,
)
from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.held import Place
from changewire.engines.spark.apply.metadata import TOMBSTONES
from changewire.engines.spark.apply.shape import JsonShape, Shape
from changewire.engines.spark.types import nullable
from changewire.tables.metadata import COLUMN
from changewire.tables.names import beside
from changewire.tables.order import Order

_ADVICE: Final = "; it was not made by changewire, which takes it over by changewire.spark.adopt"


def place_of(spark: SparkSession, target: str, shape: Shape | None, format: TableFormat) -> Place:
    """Return the table of a target, made if it is not there; without a shape its tombstones alone.

    Raises:
        OutputError: It is there, and has other columns.
    """

    def made(name: str, columns: StructType) -> str:
        format.create(spark, name, columns)
        identifier = format.identifier(name)
        check_columns(spark.table(identifier).schema, columns, identifier)
        return identifier

    table = None if shape is None else made(target, shape.columns)
    tombstones = made(beside(target, SUFFIX), TOMBSTONES)
    if shape is not None and keys_of(spark, tombstones) is None:
        keep_keys(spark, tombstones, shape.keys)
    return Place(table, tombstones, format, shape or JsonShape())


def keep_keys(spark: SparkSession, tombstones: str, keys: Sequence[str]) -> None:
    """Keep the columns of a table's key, beside its tombstones.

    Args:
        spark: The session.
        tombstones: The table of tombstones, as SQL names it.
        keys: Names of the columns, in their order in the key's text.
    """
    _set_property(spark, tombstones, KEYS, property_text([*keys]))


def keep_truncated(spark: SparkSession, tombstones: str, order: Order) -> None:
    """Keep the order of a truncate, so that nothing older comes back; a newer one stays."""
    if order > truncated(spark, tombstones):
        _set_property(spark, tombstones, TRUNCATED, order_text(order))


def truncated(spark: SparkSession, tombstones: str) -> Order:
    """Return the order of the newest truncate of a table, which its tombstones keep."""
    return order_value(_properties(spark, tombstones).get(TRUNCATED))


def keys_of(spark: SparkSession, tombstones: str) -> tuple[str, ...] | None:
    """Return the columns of a table's key, which its tombstones keep.

    Args:
        spark: The session.
        tombstones: The table of tombstones, as SQL names it; it is there.
    """
    found = property_value(_properties(spark, tombstones).get(KEYS))
    return None if found is None else tuple(found)


def _properties(spark: SparkSession, table: str) -> dict[str, str]:
    rows = spark.sql(f"SHOW TBLPROPERTIES {table}").collect()
    return {row["key"]: row["value"] for row in rows}


def _set_property(spark: SparkSession, table: str, name: str, text: str) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = '{text}')")


def check_columns(found: StructType, needed: StructType, identifier: str) -> None:
    """Check that a table has the columns that it needs.

    Args:
        found: Its columns.
        needed: Some of them.
        identifier: Its name.

    Raises:
        OutputError: It lacks one, or has it of another type.
    """
    for field in needed.fields:
        kind = nullable(field.dataType).simpleString()
        there = found[field.name].dataType if field.name in found.names else None
        if there is not None and nullable(there).simpleString() == kind:
            continue
        has = "lacks it" if there is None else f"has {there.simpleString()}"
        advice = _ADVICE if field.name == COLUMN else ""
        raise OutputError(
            f"{identifier}: a column {field.name} of type {kind} is needed, and the table {has}"
            f"{advice}"
        )
