"""Tables that are there, or are made: the one of a target, and that of its tombstones."""

from __future__ import annotations

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


def place_of(spark: SparkSession, target: str, shape: Shape | None, format: TableFormat) -> Place:
    """Return the table of a target, made if it is not there; without a shape its tombstones alone.

    Raises:
        OutputError: It is there, and has other columns.
    """

    def made(name: str, columns: StructType) -> str:
        format.create(spark, name, columns)
        identifier = format.identifier(name)
        _check(spark.table(identifier).schema, columns, identifier)
        return identifier

    graves = beside(target, SUFFIX)
    if shape is None:
        return Place(None, made(graves, TOMBSTONES), format, JsonShape())
    place = Place(made(target, shape.columns), made(graves, TOMBSTONES), format, shape)
    if keys_of(spark, place.tombstones) is None:
        keep_keys(spark, place)
    return place


def truncated(spark: SparkSession, place: Place) -> Order:
    """Return the order of the newest truncate of a table, which its tombstones keep."""
    return order_value(_property(spark, place.tombstones, TRUNCATED))


def keep_truncated(spark: SparkSession, place: Place, order: Order) -> None:
    """Keep the order of a truncate, so that nothing older comes back."""
    _set_property(spark, place.tombstones, TRUNCATED, order_text(order))


def keys_of(spark: SparkSession, tombstones: str) -> tuple[str, ...] | None:
    """Return the columns of a table's key, which its tombstones keep.

    Args:
        spark: The session.
        tombstones: The table of tombstones, as SQL names it; it is there.
    """
    found = property_value(_property(spark, tombstones, KEYS))
    return None if found is None else tuple(found)


def keep_keys(spark: SparkSession, place: Place) -> None:
    """Keep the columns of a table's key."""
    _set_property(spark, place.tombstones, KEYS, property_text(place.shape.keys))


def _property(spark: SparkSession, table: str, name: str) -> str | None:
    rows = spark.sql(f"SHOW TBLPROPERTIES {table}").collect()
    return next((row["value"] for row in rows if row["key"] == name), None)


def _set_property(spark: SparkSession, table: str, name: str, text: str) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = '{text}')")


def _check(found: StructType, needed: StructType, identifier: str) -> None:
    for field in needed.fields:
        kind = nullable(field.dataType).simpleString()
        there = found[field.name].dataType if field.name in found.names else None
        if there is not None and nullable(there).simpleString() == kind:
            continue
        has = "lacks it" if there is None else f"has {there.simpleString()}"
        advice = "; it was not made by changewire" if field.name == COLUMN else ""
        raise OutputError(
            f"{identifier}: a column {field.name} of type {kind} is needed, and the table {has}"
            f"{advice}"
        )
