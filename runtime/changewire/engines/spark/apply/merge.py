"""The changes of a batch, merged into one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.errors import OutputError
from changewire.engines.retries import conflict, tries
from changewire.engines.spark.apply.decide import ROW, TOMBSTONE
from changewire.engines.spark.apply.decisions import Decisions, decisions
from changewire.engines.spark.apply.failures import ROW_ID
from changewire.engines.spark.apply.held import Place, struct_of
from changewire.engines.spark.apply.places import keep_truncated, truncated
from changewire.engines.spark.apply.shape import CONTENT, NAMED, Shape
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.raised import RAISED
from changewire.tables.metadata import COLUMN
from changewire.tables.order import OLDEST, Order

_SOURCE: Final = "_changewire_source"
"""The only column of what is merged, so that every other name is one of the table's."""

_ROW: Final = "row"


class Decided(NamedTuple):
    """What a table becomes, as it was seen.

    Attributes:
        made: What each row becomes.
        kept: Order of the newest truncate that the table had.
        since: `TableFormat.version` of each table before it was read.
    """

    made: Decisions
    kept: Order
    since: Mapping[str, Any]


class Merge(NamedTuple):
    """What a batch does to one table.

    Attributes:
        effects: One row for each effect, as `Shape.fitted` returns them.
        place: The table.
        truncate: Order of the newest truncate that the batch has for the table.
        changes: How many changes the batch has, about.
    """

    effects: DataFrame
    place: Place
    truncate: Order = OLDEST
    changes: int = 0

    def without(self, failures: DataFrame) -> Merge:
        """Return what the batch does without some of its changes, which have `ROW_ID`."""
        left = self.effects.join(failures.select(ROW_ID), ROW_ID, "left_anti")
        return self._replace(effects=left)


class _Done(NamedTuple):
    """What an attempt did.

    Attributes:
        is_whole: Whether all of it was written.
        is_final: Whether it was, and nothing else wrote meanwhile, or it had nothing to write.
    """

    is_whole: bool
    is_final: bool


def decide(merge: Merge) -> Decided:
    """Decide what each row of a table becomes; nothing is written.

    Raises:
        ConflictError: Other writers did not let it be done.
    """
    for _ in tries():
        found = _decided(merge)
        if found is not None:
            return found
    raise conflict(str(merge.place.table))


def write(merge: Merge, first: Decided) -> Counter[str]:
    """Write what was decided; a retry changes nothing.

    Tombstones are written first. Rows are written only if they are still those that were decided
    on. If another writer came in between, everything is decided anew.

    Args:
        merge: What the batch does.
        first: What was decided.

    Returns:
        What became of the effects, as `changewire.tables.Result.counts` has it.

    Raises:
        ConflictError: Other writers did not let it be done.
        OutputError: What another writer did makes changes fail that are in the change log by now.
    """
    place = merge.place
    decided: Decided | None = first
    if merge.truncate > OLDEST:
        keep_truncated(merge.effects.sparkSession, place.tombstones, merge.truncate)
        decided = None  # the tombstones have another version now
    counts: Counter[str] | None = None
    for tried in tries():
        if tried or decided is None:
            decided = _decided(merge)
        _check_failures(first, decided, place)
        if decided is None or (done := _attempt(decided, merge)) is None:
            continue
        if counts is None and done.is_whole:
            counts = decided.made.counts
        if done.is_final:
            return decided.made.counts if counts is None else counts
    raise conflict(str(place.table))


def _check_failures(first: Decided, again: Decided | None, place: Place) -> None:
    """Check that no more changes fail than before the change log was written."""
    if again is not None and again.made.failed > first.made.failed:
        number = again.made.failed - first.made.failed
        raise OutputError(
            f"{place.table}: another writer changed it, and {number} changes that could be applied "
            "before cannot be any more"
        )


def _decided(merge: Merge) -> Decided | None:
    """Decide; return None if another writer came first."""
    place, spark = merge.place, merge.effects.sparkSession
    for table in place.both():
        place.format.refresh(spark, table)
    since = {table: place.format.version(spark, table) for table in place.both()}
    kept = truncated(spark, place.tombstones)
    floor, is_new = max(kept, merge.truncate), merge.truncate > OLDEST
    try:
        made = decisions(merge.effects, place, floor, is_new=is_new, changes=merge.changes)
    except RAISED as error:
        _check_conflict(error, place)
        return None
    return Decided(made, kept, since)


def _attempt(decided: Decided, merge: Merge) -> _Done | None:
    """Write what was decided; return None if another writer came first."""
    made, place, spark = decided.made, merge.place, merge.effects.sparkSession
    try:
        is_whole = _write(made, place, decided.since)
    except RAISED as error:
        _check_conflict(error, place)
        return None
    if not made.tombstones and not made.changed:
        return _Done(is_whole=True, is_final=True)
    # Who read one of the tables before this wrote it, and wrote the other one after this read it,
    # has seen nothing of this, and this nothing of it: one of both has to look again.
    mine = {place.tombstones: made.tombstones > 0, place.table: made.changed > 0}
    is_alone = truncated(spark, place.tombstones) == decided.kept and all(
        place.format.is_alone(spark, table, version, wrote=mine[table])
        for table, version in decided.since.items()
    )
    return _Done(is_whole, is_final=is_whole and is_alone)


def _check_conflict(error: Exception, place: Place) -> None:
    """Raise an error again that says anything but that another writer came first."""
    if place.format.conflict.search(str(error)) is None:  # Iceberg's own errors are not wrapped
        raise error


def _write(made: Decisions, place: Place, since: Mapping[str, Any]) -> bool:
    """Write what was decided, tombstones first; return whether all of it was."""
    if made.tombstones:
        graves = made.rows.where(F.col("action") == TOMBSTONE)
        bury(graves.select("key", F.col("metadata").alias(COLUMN)), place.tombstones)
    changed = made.rows.where((F.col("action") == ROW) | F.col("seen").isNotNull())
    return not made.changed or write_rows(changed, place, rows=made.changed, since=since)


def bury(graves: DataFrame, tombstones: str) -> None:
    """Append tombstones; one that is there twice does no harm.

    Args:
        graves: Has ``key`` and `COLUMN`.
        tombstones: The table, as SQL names it.
    """
    graves.withColumn("since", F.current_timestamp()).writeTo(tombstones).append()


def write_rows(changed: DataFrame, place: Place, *, rows: int, since: Mapping[str, Any]) -> bool:
    """Write and remove rows that are as they were seen; return whether all of them were.

    Args:
        changed: Decisions, each with what was seen.
        place: The table.
        rows: How many there are.
        since: `TableFormat.version` of each table before they were made.
    """
    shape, table = place.shape, place.table
    if table is None:
        return True
    columns = shape.row_columns(F.col(NAMED), F.col(CONTENT))
    row = struct_of({**columns, COLUMN: F.col("metadata")}).alias(_ROW)
    remains = (F.col("action") == ROW).alias("remains")
    # Maps do not compare; their text does, and is the same for the same map.
    source = changed.select(F.struct(row, remains, F.to_json("seen").alias("seen")).alias(_SOURCE))
    statement = _statement(table, shape)
    return place.format.merge(source, table, statement, rows=rows, since=since[table])


def _statement(table: str, shape: Shape) -> str:
    """Return the MERGE; every name but that of the source's only column is one of the table's."""
    names = [quoted(field.name) for field in shape.columns.fields]
    is_same = " AND ".join(
        f"{quoted(name)} <=> {_SOURCE}.{_ROW}.{quoted(name)}" for name in shape.keys
    )
    is_as_seen = f"to_json({COLUMN}) <=> {_SOURCE}.seen"
    values = [f"{_SOURCE}.{_ROW}.{name}" for name in names]
    pairs = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
    clauses = (
        f"ON {is_same}",
        f"WHEN MATCHED AND {is_as_seen} AND NOT {_SOURCE}.remains THEN DELETE",
        f"WHEN MATCHED AND {is_as_seen} THEN UPDATE SET {pairs}",
        f"WHEN NOT MATCHED AND {_SOURCE}.remains AND {_SOURCE}.seen IS NULL",
        f"THEN INSERT ({', '.join(names)}) VALUES ({', '.join(values)})",  # noqa: S608 - quoted
    )
    return f"MERGE INTO {as_is(table)} USING {{source}} {as_is(' '.join(clauses))}"


def as_is(text: str) -> str:
    """Return text that `SparkSession.sql` leaves as it is where it looks for braces."""
    return text.replace("{", "{{").replace("}", "}}")
