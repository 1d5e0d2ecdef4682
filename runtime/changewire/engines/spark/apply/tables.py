"""The tables of a target: created, read by key, checked, and vacuumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import and_
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
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
from changewire.engines.spark.apply.formats import TableFormat, format_of
from changewire.engines.spark.apply.shape import CONTENT, NAMED, JsonShape, Shape
from changewire.engines.spark.types import nullable
from changewire.tables.metadata import COLUMN
from changewire.tables.names import beside
from changewire.tables.order import Order
from changewire_messages.tables.spark import TOMBSTONE as TOMBSTONES

_ROW: Final = "row"
_ADVICE: Final = "; it was not made by changewire, which takes it over by changewire.spark.adopt"


@dataclass(frozen=True)
class SparkTables:
    """A table with its tombstones.

    Attributes:
        table: The table, as SQL names it; None while its columns are not known, and there is
            nothing but deletes.
        tombstones: The table of its tombstones.
        format: Their format.
        shape: How the table has its rows.
    """

    table: str | None
    tombstones: str
    format: TableFormat
    shape: Shape

    def both(self) -> list[str]:
        """Return the table, if there is one, and that of its tombstones."""
        return [*filter(None, (self.table, self.tombstones))]


def held_rows(tables: SparkTables, keys: DataFrame, *, is_all: bool = False) -> DataFrame | None:
    """Return ``key``, ``named``, ``content`` and ``metadata`` of a table's rows.

    Not selecting ``content`` lets Spark skip the columns of rows.

    Args:
        tables: The table and its tombstones.
        keys: Has ``key`` and ``named``, each key once.
        is_all: Whether rows of other keys are returned too.

    Returns:
        The rows; None if there is no table.
    """
    if tables.table is None:
        return None
    shape, row = tables.shape, F.col(_ROW)
    rows = keys.sparkSession.table(tables.table).select(F.struct("*").alias(_ROW))
    is_same = reduce(and_, (row[name].eqNullSafe(F.col(NAMED)[name]) for name in shape.keys))
    found = rows.join(keys.select("key", NAMED), is_same, "left" if is_all else "inner")
    return found.select(
        F.coalesce("key", shape.key_text(row)).alias("key"),
        struct_of({name: row[name] for name in shape.keys}).alias(NAMED),
        shape.content(row).alias(CONTENT),
        row[COLUMN].alias("metadata"),
    )


def held_tombstones(tables: SparkTables, keys: DataFrame) -> DataFrame:
    """Return ``key`` and ``metadata`` of the tombstones of some keys; a key may have several."""
    found = keys.sparkSession.table(tables.tombstones).join(keys.select("key"), "key", "left_semi")
    return found.select("key", F.col(COLUMN).alias("metadata"))


def struct_of(columns: Mapping[str, Column]) -> Column:
    """Return a struct of columns."""
    return F.struct(*(column.alias(name) for name, column in columns.items()))


def tables_of(
    spark: SparkSession, target: str, shape: Shape | None, format: TableFormat
) -> SparkTables:
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
    return SparkTables(table, tombstones, format, shape or JsonShape())


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


def vacuum(spark: SparkSession, target: str, *, older_than: datetime, sink: str = "delta") -> int:
    """Remove the tombstones of a table; return how many.

    What is older than a delete and comes after its tombstone was removed brings the row back.

    Args:
        spark: The session.
        target: The table: a path (it has a slash), or its name.
        older_than: Tombstones that were written before it go; it has a time zone.
        sink: Table format.

    Raises:
        ValueError: The time has no zone, or there is no such table format.
    """
    if older_than.tzinfo is None:
        raise ValueError("older_than has no time zone")
    tombstones = format_of(sink).identifier(beside(target, SUFFIX))
    condition = f"since < timestamp '{older_than.isoformat()}'"
    removed = spark.table(tombstones).where(condition).count()
    spark.sql(f"DELETE FROM {tombstones} WHERE {condition}")  # noqa: S608 - quoted
    return removed
