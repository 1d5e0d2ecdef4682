"""A table of versions, and the table of deletes beside it: named, made, and read by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.changelog.versions import check_spans, plain_rows
from changewire.engines.kept import ENDS_SUFFIX
from changewire.engines.spark.apply.decisions import filled
from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.history.columns import with_columns
from changewire.engines.spark.apply.history.keys import (
    END_ROW,
    VERSION_ROW,
    Truncates,
    end_of,
    input_type,
    output_type,
)
from changewire.engines.spark.apply.making import no_rows
from changewire.engines.spark.apply.properties import keep_keys, keys_of
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.states import (
    TableState,
    forget_state,
    keep_state,
    known_state,
)
from changewire.engines.spark.apply.tables import SparkTables, check_columns, held_rows, versions
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.raised import RAISED
from changewire.engines.spark.types import differing, nullable
from changewire.tables.names import beside
from changewire.tables.order import OLDEST
from changewire.tables.version_rows import VersionNames
from changewire_messages.tables.spark import ROW_END

_WANTED: Final = "is_wanted"

ENDS: Final = StructType([StructField("key", StringType()), *ROW_END.fields])
"""Its columns; truncates have no key."""


def history_tables(
    spark: SparkSession, name: str, shape: Shape | None, format: TableFormat, names: VersionNames
) -> HistoryTables:
    """Return the tables of versions of a target; without a shape its deletes alone."""
    table = None if shape is None else format.identifier(name)
    ends = format.identifier(beside(name, ENDS_SUFFIX))
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
        needed = {tables.tombstones: (beside(tables.target, ENDS_SUFFIX), ENDS)}
        if tables.table is not None and self.columns is not None:
            needed[tables.table] = (tables.target, self.columns)
        for identifier, (name, columns) in needed.items():
            is_new = tables.format.create(spark, name, columns, {})
            there = spark.table(identifier).schema
            if identifier == tables.table:
                check_spans(there.names, self.names, identifier)
            if not is_new and any(differing(there, columns)):
                tables.format.evolve(spark, name, columns)
            check_columns(spark.table(identifier).schema, columns, identifier)

    def is_complete(self, spark: SparkSession) -> bool:
        """Whether the table has the versions of all changes before this batch.

        Both tables are made if they are not there, see `make`.
        """
        if self._is_as_left(spark):
            return True
        self.make(spark)
        return keys_of(spark, self.tables.tombstones) is not None

    def complete(self, spark: SparkSession) -> None:
        """Remember that it has them."""
        keep_keys(spark, self.tables.tombstones, self.shape.keys)

    def _is_as_left(self, spark: SparkSession) -> bool:
        """Whether nothing was written since this process left both tables complete."""
        known = known_state(self.tables.id)
        if known is None or known.columns != self._columns:
            return False
        try:
            return known.versions == self.versions(spark)
        except RAISED:  # such as a table that was dropped
            forget_state(self.tables.id)
            return False

    def keep(self, versions: Mapping[str, Any]) -> None:
        """Remember, for this process, the versions at which it left both tables complete."""
        keep_state(self.tables.id, TableState(versions, self._columns, OLDEST, None))

    @property
    def _columns(self) -> str:
        return "" if self.columns is None else self.columns.simpleString()

    def versions(self, spark: SparkSession) -> dict[str, Any]:
        """Return the versions that both tables have now, in the sense of their format."""
        return versions(spark, self.tables)

    def truncates(self, spark: SparkSession) -> Truncates:
        """Return the truncates that are known; the driver holds them."""
        found = spark.table(self.tables.tombstones).where("key IS NULL").toArrow()
        return [*map(end_of, plain_rows(found.to_batches()))]

    def held(self, keys: DataFrame, *, is_all: bool, with_truncates: bool = False) -> DataFrame:
        """Return what is known of some keys, or of all, as `keys.input_type` has it.

        Truncates have no key.
        """
        spark, kind = keys.sparkSession, input_type(self.shape)
        ends = spark.table(self.tables.tombstones)
        if not with_truncates:
            ends = ends.where("key IS NOT NULL")
        if not is_all:
            wanted = keys.select("key", F.lit(True).alias(_WANTED))  # noqa: FBT003 - a column
            ends = ends.join(wanted, "key", "left").where(f"key IS NULL OR {_WANTED}")
        parts = [ends.withColumn("origin", F.lit(END_ROW))]
        rows = held_rows(self.tables, keys, is_all=is_all)
        if rows is not None:
            parts.append(rows.withColumn("origin", F.lit(VERSION_ROW)))
        return reduce(DataFrame.unionAll, (filled(part, kind) for part in parts))
