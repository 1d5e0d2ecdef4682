"""A table of versions, and the table of deletes beside it: named, made, and read by key."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.spark.apply.decisions import filled
from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.history.columns import with_columns
from changewire.engines.spark.apply.history.keys import (
    END_ROW,
    VERSION_ROW,
    Truncates,
    input_type,
    output_type,
)
from changewire.engines.spark.apply.making import no_rows
from changewire.engines.spark.apply.properties import keep_keys, keys_of
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.tables import SparkTables, check_columns, held_rows, versions
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.types import differing, nullable
from changewire.tables.names import beside
from changewire.tables.version_rows import ChangeNote, VersionNames, order_of
from changewire_messages.tables.spark import ROW_END

SUFFIX: Final = "__ends"
"""What the name of the table of deletes ends in."""

ENDS: Final = StructType([StructField("key", StringType()), *ROW_END.fields])
"""Its columns; truncates have no key."""


def history_tables(
    spark: SparkSession, name: str, shape: Shape | None, format: TableFormat, names: VersionNames
) -> HistoryTables:
    """Return the tables of versions of a target; without a shape its deletes alone."""
    table = None if shape is None else format.identifier(name)
    ends = format.identifier(beside(name, SUFFIX))
    tables = SparkTables(name, table, ends, format, shape or JsonShape())
    empty = no_rows(spark, output_type(tables.shape))
    columns = None if shape is None else with_columns(empty, shape, names).schema
    return HistoryTables(tables, None if columns is None else nullable(columns), names)


@dataclass(frozen=True)
class HistoryTables:
    """A table of versions with its deletes.

    Attributes:
        tables: Both, in the place of a table and its tombstones.
        columns: Columns of the versions; None while those of rows are not known.
        names: How its columns are named.
    """

    tables: SparkTables
    columns: StructType | None
    names: VersionNames

    @property
    def shape(self) -> Shape:
        """How the table has its rows."""
        return self.tables.shape

    def make(self, spark: SparkSession) -> None:
        """Make both if they are not there, and give versions the columns that they lack.

        Raises:
            OutputError: They are there, and have other columns.
        """
        tables = self.tables
        needed = {tables.tombstones: (beside(tables.target, SUFFIX), ENDS)}
        if tables.table is not None and self.columns is not None:
            needed[tables.table] = (tables.target, self.columns)
        for identifier, (name, columns) in needed.items():
            is_new = tables.format.create(spark, name, columns)
            if not is_new and any(differing(spark.table(identifier).schema, columns)):
                tables.format.evolve(spark, name, columns)
            check_columns(spark.table(identifier).schema, columns, identifier)

    def is_complete(self, spark: SparkSession) -> bool:
        """Whether the table has the versions of all changes before this batch."""
        return keys_of(spark, self.tables.tombstones) is not None

    def complete(self, spark: SparkSession) -> None:
        """Remember that it has them."""
        keep_keys(spark, self.tables.tombstones, self.shape.keys)

    def versions(self, spark: SparkSession) -> dict[str, Any]:
        """Return the versions that both tables have now, in the sense of their format."""
        return versions(spark, self.tables)

    def truncates(self, spark: SparkSession) -> Truncates:
        """Return the truncates that are known; the driver holds them."""
        found = spark.table(self.tables.tombstones).where("key IS NULL")
        times = F.unix_micros("event_time").alias("event_time")
        rows = found.select(*(times if n == "event_time" else n for n in ENDS.names)).collect()
        notes = ((row, ChangeNote(row["op"], row["event_time"])) for row in rows)
        return [(order_of(row.asDict(recursive=True)), note) for row, note in notes]

    def held(self, keys: DataFrame, *, is_all: bool) -> DataFrame:
        """Return what is known of some keys, or of all, as `keys.input_type` has it."""
        spark, kind = keys.sparkSession, input_type(self.shape)
        ends = spark.table(self.tables.tombstones).where("key IS NOT NULL")
        if not is_all:
            ends = ends.join(keys.select("key"), "key", "left_semi")
        parts = [ends.withColumn("origin", F.lit(END_ROW))]
        rows = held_rows(self.tables, keys, is_all=is_all)
        if rows is not None:
            parts.append(rows.withColumn("origin", F.lit(VERSION_ROW)))
        return reduce(DataFrame.unionAll, (filled(part, kind) for part in parts))
