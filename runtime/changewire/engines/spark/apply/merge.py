"""The changes of a batch, merged into one table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any, Final, NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.retries import conflict, tries
from changewire.engines.spark.apply.decide import (
    COUNTS,
    EFFECT_ROW,
    ROW,
    TABLE_ROW,
    TOMBSTONE,
    TOMBSTONE_ROW,
    Decide,
    input_type,
    output_type,
)
from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.shape import Shape
from changewire.engines.spark.parts import quoted
from changewire.tables.metadata import COLUMN
from changewire.tables.order import OLDEST, Order

_SOURCE: Final = "_changewire_source"
"""The only column of what is merged, so that every other name is one of the table's."""

_ROW: Final = "row"


@dataclass(frozen=True)
class Place:
    """A table with its tombstones.

    Attributes:
        table: The table, as SQL names it; None where nothing has told its columns yet, and there is
            nothing but deletes.
        tombstones: The table of its tombstones.
        format: Their format.
        shape: How the table has its rows.
    """

    table: str | None
    tombstones: str
    format: TableFormat
    shape: Shape


def merge(
    effects: DataFrame, place: Place, floor: Order = OLDEST, *, is_new: bool = False
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

    Returns:
        What became of the effects, as `changewire.tables.Result.counts` has it.

    Raises:
        ConflictError: Other writers did not let it be done.
    """
    for _ in tries():
        counts = _attempt(effects, place, floor, is_new=is_new)
        if counts is not None:
            return counts
    raise conflict(str(place.table))


def _attempt(
    effects: DataFrame, place: Place, floor: Order, *, is_new: bool
) -> Counter[str] | None:
    """Return the counts; None where another writer came first."""
    # Persisted rows would be computed anew as soon as a table that they were read from is written.
    spark = effects.sparkSession
    for table in filter(None, (place.table, place.tombstones)):
        place.format.refresh(spark, table)
    version = place.format.version(spark, place.table) if place.table else None
    decisions = _decisions(effects, place, floor, is_new=is_new).localCheckpoint(eager=False)
    try:
        made = _made(decisions)
        if made.tombstones:
            graves = decisions.where(F.col("action") == TOMBSTONE)
            bury(graves.select("key", F.col("metadata").alias(COLUMN)), place.tombstones)
        changed = decisions.where((F.col("action") == ROW) | F.col("seen").isNotNull())
        if made.changed and not write_rows(changed, place, rows=made.changed, since=version):
            return None
    except (PySparkException, Py4JError) as error:  # Iceberg's own errors are not wrapped
        if place.format.conflict.search(str(error)) is None:
            raise
        return None
    return made.counts


def _decisions(effects: DataFrame, place: Place, floor: Order, *, is_new: bool) -> DataFrame:
    """Return what each row becomes that effects concern."""
    shape, spark = place.shape, effects.sparkSession
    keys = effects.select("key").distinct()
    parts = [
        effects.withColumn("origin", F.lit(EFFECT_ROW)),
        _tombstones(spark, place, keys),
    ]
    if place.table is not None:
        parts.append(_rows(spark.table(place.table), place.shape, keys, is_all=is_new))
    columns = input_type(shape)
    together = reduce(DataFrame.unionByName, (_with(part, columns) for part in parts))
    grouped = together.repartition("key").sortWithinPartitions("key")
    return grouped.mapInArrow(Decide(shape, floor), output_type(shape))


def _with(part: DataFrame, columns: StructType) -> DataFrame:
    """Return the columns of what is decided on; those that a part lacks are NULL."""
    return part.select(
        *(
            (F.col(f.name) if f.name in part.columns else F.lit(None))
            .cast(f.dataType)
            .alias(f.name)
            for f in columns.fields
        )
    )


def _rows(table: DataFrame, shape: Shape, keys: DataFrame, *, is_all: bool) -> DataFrame:
    """Return the table's rows of some keys, or all of them."""
    named = keys.select("key", _struct(shape.key_columns(F.col("key"))).alias(_SOURCE))
    rows = table.select(F.struct("*").alias(_ROW))
    found = rows.join(named, _same_key(shape), "left" if is_all else "inner")
    return found.select(
        F.coalesce("key", shape.key_text(F.col(_ROW))).alias("key"),
        F.lit(TABLE_ROW).alias("origin"),
        shape.content(F.col(_ROW)).alias("content"),
        F.col(_ROW)[COLUMN].alias("metadata"),
    )


def _same_key(shape: Shape) -> Column:
    row, key = F.col(_ROW), F.col(_SOURCE)
    return reduce(and_, (row[name].eqNullSafe(key[name]) for name in shape.keys))


def _tombstones(spark: SparkSession, place: Place, keys: DataFrame) -> DataFrame:
    """Return the tombstones of some keys."""
    found = spark.table(place.tombstones).join(keys, "key", "left_semi")
    origin = F.lit(TOMBSTONE_ROW).alias("origin")
    return found.select("key", origin, F.col(COLUMN).alias("metadata"))


class _Made(NamedTuple):
    """How many tombstones and changed rows decisions have, and what the tasks counted."""

    tombstones: int
    changed: int
    counts: Counter[str]


def _made(decisions: DataFrame) -> _Made:
    groups = decisions.groupBy("action", F.to_json("counts").alias("counts"))
    seen = F.count_if(F.col("seen").isNotNull())
    rows = groups.agg(F.count("*").alias("n"), seen.alias("seen")).collect()
    number = {row["action"]: row["n"] for row in rows}
    removed = sum(row["seen"] for row in rows if row["action"] != ROW)
    counts: Counter[str] = Counter()
    for row in rows:
        if row["action"] == COUNTS:
            counts.update({k: n * row["n"] for k, n in json.loads(row["counts"]).items()})
    return _Made(number.get(TOMBSTONE, 0), number.get(ROW, 0) + removed, counts)


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
    row = _struct({**columns, COLUMN: F.col("metadata")}).alias(_ROW)
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


def _struct(columns: Mapping[str, Column]) -> Column:
    return F.struct(*(column.alias(name) for name, column in columns.items()))
