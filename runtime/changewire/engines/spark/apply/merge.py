"""The changes of a batch, merged into one table."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.retries import conflict, tries
from changewire.engines.spark.apply.decide import ROW, TOMBSTONE
from changewire.engines.spark.apply.decisions import decisions
from changewire.engines.spark.apply.held import Place, struct_of
from changewire.engines.spark.apply.shape import Shape
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.raised import RAISED
from changewire.tables.metadata import COLUMN
from changewire.tables.order import OLDEST, Order

_SOURCE: Final = "_changewire_source"
"""The only column of what is merged, so that every other name is one of the table's."""

_ROW: Final = "row"


def merge(
    effects: DataFrame,
    place: Place,
    floor: Order = OLDEST,
    *,
    is_new: bool = False,
    changes: int = 0,
) -> Counter[str]:
    """Merge effects into a table; done again it changes nothing.

    What each row becomes is decided on what table and tombstones have. Tombstones are written
    first. Rows are written only where they are still those that were decided on; where another
    writer came in between, everything is decided anew.

    Args:
        effects: One row for each effect, with the columns of `decide.input_type` but ``origin`` and
            ``metadata``.
        place: The table.
        floor: Order of the newest truncate of the table.
        is_new: Whether that truncate is one of this batch, so that it concerns every row.
        changes: How many changes the batch has, about.

    Returns:
        What became of the effects, as `changewire.tables.Result.counts` has it.

    Raises:
        ConflictError: Other writers did not let it be done.
    """
    for _ in tries():
        counts = _attempt(effects, place, floor, is_new=is_new, changes=changes)
        if counts is not None:
            return counts
    raise conflict(str(place.table))


def _attempt(
    effects: DataFrame, place: Place, floor: Order, *, is_new: bool, changes: int
) -> Counter[str] | None:
    """Return the counts; None where another writer came first."""
    spark = effects.sparkSession
    for table in filter(None, (place.table, place.tombstones)):
        place.format.refresh(spark, table)
    version = place.format.version(spark, place.table) if place.table else None
    try:
        made = decisions(effects, place, floor, is_new=is_new, changes=changes)
        if made.tombstones:
            graves = made.rows.where(F.col("action") == TOMBSTONE)
            bury(graves.select("key", F.col("metadata").alias(COLUMN)), place.tombstones)
        changed = made.rows.where((F.col("action") == ROW) | F.col("seen").isNotNull())
        if made.changed and not write_rows(changed, place, rows=made.changed, since=version):
            return None
    except RAISED as error:  # Iceberg's own errors are not wrapped
        if place.format.conflict.search(str(error)) is None:
            raise
        return None
    return made.counts


def bury(graves: DataFrame, tombstones: str) -> None:
    """Append tombstones; one that is there twice does no harm.

    Args:
        graves: Has ``key`` and `COLUMN`.
        tombstones: The table, as SQL names it.
    """
    graves.withColumn("since", F.current_timestamp()).writeTo(tombstones).append()


def write_rows(changed: DataFrame, place: Place, *, rows: int, since: Any) -> bool:
    """Write and remove rows that are as they were seen; return whether all of them were.

    Args:
        changed: Decisions, each with what was seen.
        place: The table.
        rows: How many there are.
        since: `TableFormat.version` before they were made.
    """
    shape, table = place.shape, place.table
    if table is None:
        return True
    columns = shape.row_columns(F.col("key"), F.col("content"))
    row = struct_of({**columns, COLUMN: F.col("metadata")}).alias(_ROW)
    remains = (F.col("action") == ROW).alias("remains")
    # Maps do not compare; their text does, and is the same for the same map.
    source = changed.select(F.struct(row, remains, F.to_json("seen").alias("seen")).alias(_SOURCE))
    statement = _statement(table, shape)
    return place.format.merge(source, table, statement, rows=rows, since=since)


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
