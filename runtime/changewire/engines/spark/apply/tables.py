"""The tables of a target: created, read by key, checked, and vacuumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import and_
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.errors import HistoryMissingError, OutputError
from changewire.engines.kept import HISTORY, KEYS, SUFFIX, TableHistory, history_value
from changewire.engines.spark.apply.formats import TableFormat, format_of
from changewire.engines.spark.apply.properties import keys_text, properties_of, set_properties
from changewire.engines.spark.apply.shape import CONTENT, NAMED, JsonShape
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.stream.compatible import schema_of
from changewire.engines.spark.stream.output import Output
from changewire.engines.spark.types import differing
from changewire.tables.metadata import COLUMN
from changewire.tables.names import absolute, beside, is_path
from changewire_messages.tables.spark import TOMBSTONE as TOMBSTONES

_ROW: Final = "row"
_ADVICE: Final = "; it was not made by changewire, which takes it over by changewire.spark.adopt"


@dataclass(frozen=True)
class SparkTables:
    """A table with its tombstones.

    Attributes:
        target: The table's name, or its path.
        table: The table, as SQL names it; None while its columns are not known, and there is
            nothing but deletes.
        tombstones: The table of its tombstones.
        format: Their format.
        shape: How the table has its rows.
        has_changed: Whether the table is there, and has other columns.
        history: Where the run keeps the versions of its rows; None if it keeps none.
    """

    target: str
    table: str | None
    tombstones: str
    format: TableFormat
    shape: Shape
    has_changed: bool = False
    history: TableHistory | None = None

    @property
    def id(self) -> tuple[str, str]:
        """What `states` knows them by."""
        return self.format.name, self.tombstones

    @property
    def columns(self) -> str:
        """The table's columns and those of its key, as text."""
        return f"{self.shape.columns.simpleString()} {self.shape.keys}" if self.table else ""

    def are_untouched(self, since: Mapping[str, Any]) -> bool:
        """Whether both tables have had no commit since `make` made them.

        Args:
            since: Their versions.
        """
        return all(self.format.is_first(one) for one in since.values())

    def sizes(self, spark: SparkSession) -> list[int | None]:
        """Return how many bytes the files of each have; None if that is not known."""
        return [self._size(spark, table) for table in self.both()]

    def _size(self, spark: SparkSession, table: str) -> int | None:
        found = self.format.size(spark, table)
        if found is None and not (is_path(self.target) or spark.catalog.tableExists(table)):
            return 0
        return found

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
    target: str,
    shape: Shape | None,
    format: TableFormat,
    *,
    has_changed: bool,
    history: TableHistory | None = None,
) -> SparkTables:
    """Return the table of a target; without a shape its tombstones alone."""
    table = None if shape is None else format.identifier(target)
    tombstones = format.identifier(beside(target, SUFFIX))
    has_changed = has_changed and shape is not None
    how = shape or JsonShape()
    return SparkTables(target, table, tombstones, format, how, has_changed, history)


def make(spark: SparkSession, tables: SparkTables) -> bool:
    """Make a table and that of its tombstones where they are not there, or give it new columns.

    Returns:
        Whether both were made, each by one commit, so that they have no rows; `False` if that is
        not known.

    Raises:
        OutputError: They are there, and have other columns.
        HistoryMissingError: The versions of the table's rows are kept, and not by this run.
    """
    needed = _needed(tables)
    names = {tables.tombstones: (beside(tables.target, SUFFIX), TOMBSTONES, needed)}
    if tables.table is not None:
        names[tables.table] = (tables.target, tables.shape.columns, {})
    if tables.has_changed:
        tables.format.evolve(spark, tables.target, tables.shape.columns)
    made = {table: tables.format.create(spark, *one) for table, one in names.items()}
    for identifier, (_, columns, _) in names.items():
        if not made[identifier]:
            check_columns(spark.table(identifier).schema, columns, identifier)
    if not made[tables.tombstones]:
        is_new = tables.table is not None and made[tables.table]
        _keep_needed(spark, tables, needed, is_new=is_new)
    return all(made.values())


def _keep_needed(
    spark: SparkSession, tables: SparkTables, needed: Mapping[str, str], *, is_new: bool
) -> None:
    """Give a table of tombstones that is there the properties that it lacks.

    Args:
        spark: The session.
        tables: The table and its tombstones.
        needed: The properties.
        is_new: Whether the table was just made; else its key stays.

    Raises:
        HistoryMissingError: The versions of the table's rows are kept, and not by this run.
    """
    there = properties_of(spark, tables.tombstones)
    _check_history(spark, tables, history_value(there.get(HISTORY)))
    lacking = {name: text for name, text in needed.items() if there.get(name) != text}
    if KEYS in there and not is_new:
        lacking.pop(KEYS, None)
    if lacking:
        set_properties(spark, tables.tombstones, lacking)


def _needed(tables: SparkTables) -> dict[str, str]:
    """Return the properties that a table of tombstones needs."""
    keys = {} if tables.table is None else {KEYS: keys_text(tables.shape.keys)}
    return keys if tables.history is None else {**keys, HISTORY: tables.history.text}


def _check_history(spark: SparkSession, tables: SparkTables, found: TableHistory | None) -> None:
    """Check that the versions of a table's rows are not kept elsewhere, where they would end.

    Raises:
        HistoryMissingError: They are, and would lack what this run does.
    """
    if found is None or (tables.history and tables.history[1:] == found[1:]):
        return
    if schema_of(spark, tables.format.name, Output("table", found.ends)) is not None:
        raise HistoryMissingError(tables.target, found, tables.history)


def versions(spark: SparkSession, tables: SparkTables) -> dict[str, Any]:
    """Return the versions that a table and that of its tombstones have now."""
    for table in tables.both():
        tables.format.refresh(spark, table)
    return {table: tables.format.version(spark, table) for table in tables.both()}


def check_columns(found: StructType, needed: StructType, identifier: str) -> None:
    """Check that a table has the columns that it needs; the error names it by `identifier`.

    Raises:
        OutputError: It lacks one, or has it of another type.
    """
    for name, kind, has in differing(found, needed):
        advice = _ADVICE if name == COLUMN else ""
        raise OutputError(
            f"{identifier}: a column {name} of type {kind} is needed, and the table {has}{advice}"
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
    tombstones = format_of(sink).identifier(beside(absolute(target), SUFFIX))
    condition = f"since < timestamp '{older_than.isoformat()}'"
    removed = spark.table(tombstones).where(condition).count()
    spark.sql(f"DELETE FROM {tombstones} WHERE {condition}")  # noqa: S608 - quoted
    return removed
