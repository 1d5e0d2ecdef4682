"""What a batch does to each of its tables, written by MERGE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.errors import OutputError
from changewire.engines.retries import WriteConflictError, Written, retried, write_until_final
from changewire.engines.spark.apply.decide import ROW, TOMBSTONE
from changewire.engines.spark.apply.decisions import Decisions, decisions
from changewire.engines.spark.apply.failures import ROW_ID
from changewire.engines.spark.apply.shape import CONTENT, NAMED, Shape
from changewire.engines.spark.apply.tables import (
    SparkTables,
    keep_truncated,
    struct_of,
    truncated,
)
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.raised import RAISED
from changewire.tables.metadata import COLUMN
from changewire.tables.order import OLDEST, Order

_SOURCE: Final = "_changewire_source"
"""The only column of what is merged, so that every other name is one of the table's."""

_ROW: Final = "row"


@dataclass(frozen=True)
class SparkDecisions:
    """What a table becomes.

    Attributes:
        made: What each row becomes.
        kept: Order of the newest truncate that the table had.
        since: `TableFormat.version` of each table before it was read.
    """

    made: Decisions
    kept: Order
    since: Mapping[str, Any]

    @property
    def counts(self) -> Counter[str]:
        """What became of the changes, as `changewire.tables.Result.counts` has it."""
        return self.made.counts


@dataclass(frozen=True)
class SparkMerge:
    """What a batch does to one table; see `changewire.tables.planner.TableMerge`.

    Attributes:
        effects: One row for each effect, as `Shape.fitted` returns them.
        tables: The table and its tombstones.
        truncate: Order of the newest truncate that the batch has for the table.
        changes: How many changes the batch has, about.
    """

    effects: DataFrame
    tables: SparkTables
    truncate: Order = OLDEST
    changes: int = 0

    def decide(self) -> SparkDecisions:
        """Decide what each row of the table becomes; nothing is written.

        Raises:
            ConflictError: Other writers did not let it be done.
        """
        return retried(str(self.tables.table), self._decided)

    def failures(self, decisions: SparkDecisions) -> DataFrame | None:
        """Return `ROW_ID` and `FAILURE` of the changes of the batch that cannot be applied."""
        # Deletes that an earlier batch kept are not of this batch, so they cannot be refused here.
        found = decisions.made.failures() if decisions.made.failed else None
        return None if found is None or found.isEmpty() else found

    def without(self, failures: DataFrame) -> SparkMerge:
        """Return what the batch does without some of its changes, which have `ROW_ID`."""
        left = self.effects.join(failures.select(ROW_ID), ROW_ID, "left_anti")
        return replace(self, effects=left)

    def write(self, decisions: SparkDecisions) -> Counter[str]:
        """Write what was decided; a retry changes nothing.

        Tombstones are written first. Rows are written only if they are still those that were
        decided on.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: What another writer did makes changes fail that are in the change log by
                now.
        """
        first: SparkDecisions | None = decisions
        if self.truncate > OLDEST:
            spark = self.effects.sparkSession
            keep_truncated(spark, self.tables.tombstones, self.truncate)
            first = None  # the tombstones have another version now

        def decide_again() -> SparkDecisions:
            found = self._decided()
            _check_failures(decisions, found, self.tables)
            return found

        return write_until_final(
            str(self.tables.table), first, decide=decide_again, write=self._written
        )

    def _decided(self) -> SparkDecisions:
        """Decide on the table as it is now.

        Raises:
            WriteConflictError: Another writer came first.
        """
        tables, spark = self.tables, self.effects.sparkSession
        for table in tables.both():
            tables.format.refresh(spark, table)
        since = {table: tables.format.version(spark, table) for table in tables.both()}
        kept = truncated(spark, tables.tombstones)
        floor, is_new = max(kept, self.truncate), self.truncate > OLDEST
        with _conflicts(tables):
            made = decisions(self.effects, tables, floor, is_new=is_new, changes=self.changes)
        return SparkDecisions(made, kept, since)

    def _written(self, decided: SparkDecisions) -> Written:
        """Write what was decided.

        Raises:
            WriteConflictError: Another writer came first.
        """
        made, tables, spark = decided.made, self.tables, self.effects.sparkSession
        with _conflicts(tables):
            is_whole = _write(made, tables, decided.since)
        if not made.tombstones and not made.changed:
            return Written(is_whole=True, is_final=True)
        mine = {tables.tombstones: made.tombstones > 0, tables.table: made.changed > 0}
        is_alone = truncated(spark, tables.tombstones) == decided.kept and all(
            tables.format.is_alone(spark, table, version, wrote=mine[table])
            for table, version in decided.since.items()
        )
        return Written(is_whole, is_final=is_whole and is_alone)


def _check_failures(first: SparkDecisions, again: SparkDecisions, tables: SparkTables) -> None:
    """Check that no more changes fail than before the change log was written."""
    if again.made.failed > first.made.failed:
        number = again.made.failed - first.made.failed
        raise OutputError(
            f"{tables.table}: another writer changed it, and {number} changes that could be "
            "applied before cannot be any more"
        )


@contextmanager
def _conflicts(tables: SparkTables) -> Generator[None, None, None]:
    """Raise `WriteConflictError` for errors that say that another writer came first."""
    try:
        yield
    except RAISED as error:
        if tables.format.conflict.search(str(error)) is None:  # Iceberg's own are not wrapped
            raise
        raise WriteConflictError from error


def _write(made: Decisions, tables: SparkTables, since: Mapping[str, Any]) -> bool:
    """Write what was decided, tombstones first; return whether all of it was."""
    if made.tombstones:
        found = made.rows.where(F.col("action") == TOMBSTONE)
        write_tombstones(found.select("key", F.col("metadata").alias(COLUMN)), tables.tombstones)
    changed = made.rows.where((F.col("action") == ROW) | F.col("expected").isNotNull())
    return not made.changed or write_rows(changed, tables, rows=made.changed, since=since)


def write_tombstones(found: DataFrame, tombstones: str) -> None:
    """Append tombstones; one that is there twice does no harm.

    Args:
        found: Has ``key`` and `COLUMN`.
        tombstones: The table, as SQL names it.
    """
    found.withColumn("since", F.current_timestamp()).writeTo(tombstones).append()


def write_rows(
    changed: DataFrame, tables: SparkTables, *, rows: int, since: Mapping[str, Any]
) -> bool:
    """Write and remove rows that are unchanged since they were read; return whether all were.

    Args:
        changed: Decisions, each with the metadata that its row is expected to have.
        tables: The table.
        rows: How many there are.
        since: `TableFormat.version` of each table before they were made.
    """
    shape, table = tables.shape, tables.table
    if table is None:
        return True
    columns = shape.row_columns(F.col(NAMED), F.col(CONTENT))
    row = struct_of({**columns, COLUMN: F.col("metadata")}).alias(_ROW)
    remains = (F.col("action") == ROW).alias("remains")
    # Maps do not compare; their text does, and is the same for the same map.
    source = changed.select(
        F.struct(row, remains, F.to_json("expected").alias("expected")).alias(_SOURCE)
    )
    statement = _statement(table, shape)
    return tables.format.merge(source, table, statement, rows=rows, since=since[table])


def _statement(table: str, shape: Shape) -> str:
    """Return the MERGE; every name but that of the source's only column is one of the table's."""
    names = [quoted(field.name) for field in shape.columns.fields]
    is_same = " AND ".join(
        f"{quoted(name)} <=> {_SOURCE}.{_ROW}.{quoted(name)}" for name in shape.keys
    )
    is_unchanged = f"to_json({COLUMN}) <=> {_SOURCE}.expected"
    values = [f"{_SOURCE}.{_ROW}.{name}" for name in names]
    pairs = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
    clauses = (
        f"ON {is_same}",
        f"WHEN MATCHED AND {is_unchanged} AND NOT {_SOURCE}.remains THEN DELETE",
        f"WHEN MATCHED AND {is_unchanged} THEN UPDATE SET {pairs}",
        f"WHEN NOT MATCHED AND {_SOURCE}.remains AND {_SOURCE}.expected IS NULL",
        f"THEN INSERT ({', '.join(names)}) VALUES ({', '.join(values)})",  # noqa: S608 - quoted
    )
    return f"MERGE INTO {as_is(table)} USING {{source}} {as_is(' '.join(clauses))}"


def as_is(text: str) -> str:
    """Return text that `SparkSession.sql` leaves as it is where it looks for braces."""
    return text.replace("{", "{{").replace("}", "}}")
