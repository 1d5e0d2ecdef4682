"""The changes of a batch, merged into one table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType
from pyspark.storagelevel import StorageLevel

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
from changewire.engines.spark.apply.errors import ConflictError
from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.shape import Shape
from changewire.tables.metadata import COLUMN
from changewire.tables.order import OLDEST, Order

_SOURCE: Final = "_changewire_source"
"""The only column of what is merged, so that every other name is one of the table's."""

_ROW: Final = "row"

_TRIES: Final = 6
_FIRST_WAIT: Final = 0.5
"""Seconds; each further wait is twice as long."""


@dataclass(frozen=True)
class Place:
    """A table with its tombstones.

    Attributes:
        table: The table, as SQL names it.
        tombstones: The table of its tombstones.
        format: Their format.
        shape: How the table has its rows.
    """

    table: str
    tombstones: str
    format: TableFormat
    shape: Shape


def merge(effects: DataFrame, place: Place, mark: str, floor: Order = OLDEST) -> Counter[str]:
    """Merge effects into a table; done again it changes nothing.

    What each row becomes is decided on what table and tombstones have. Tombstones are written
    first. Rows are written only where they are still those that were decided on; where another
    writer came in between, everything is decided anew.

    Args:
        effects: One row for each effect, with the columns of `decide.input_type` but ``origin`` and
            ``metadata``.
        place: The table.
        mark: What the commits carry.
        floor: Order of the newest truncate of the table.

    Returns:
        What became of the effects, as `changewire.tables.Result.counts` has it.

    Raises:
        ConflictError: Other writers did not let it be done.
    """
    for tried in range(_TRIES):
        if tried:
            time.sleep(_FIRST_WAIT * 2**tried)
        counts = _attempt(effects, place, mark, floor)
        if counts is not None:
            return counts
    raise ConflictError(
        f"{place.table}: other writers changed it {_TRIES} times while a batch was merged into it; "
        "let one query write to one table"
    )


def _attempt(effects: DataFrame, place: Place, mark: str, floor: Order) -> Counter[str] | None:
    """Return the counts; None where another writer came first."""
    spark, tables = effects.sparkSession, place.format
    before = tables.version(spark, place.table)
    decisions = _decisions(effects, place, floor).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        counts = _counts(decisions)
        with tables.marked(spark, mark):
            _write(decisions, place)
        return None if tables.has_others(spark, place.table, before, mark) else counts
    except PySparkException as error:
        if tables.conflict.search(str(error)) is None:
            raise
        return None
    finally:
        decisions.unpersist()


def _decisions(effects: DataFrame, place: Place, floor: Order) -> DataFrame:
    """Return what each row becomes that effects concern."""
    shape, spark = place.shape, effects.sparkSession
    keys = effects.select("key").distinct()
    parts = [
        effects.withColumn("origin", F.lit(EFFECT_ROW)),
        _rows(spark, place, keys),
        _tombstones(spark, place, keys),
    ]
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


def _rows(spark: SparkSession, place: Place, keys: DataFrame) -> DataFrame:
    """Return the table's rows of some keys."""
    shape = place.shape
    named = keys.select("key", _struct(shape.key_columns(F.col("key"))).alias(_SOURCE))
    rows = spark.table(place.table).select(F.struct("*").alias(_ROW))
    found = rows.join(named, _same_key(shape, lambda name: F.col(_ROW)[name], F.col(_SOURCE)))
    return found.select(
        "key",
        F.lit(TABLE_ROW).alias("origin"),
        shape.content(F.col(_ROW)).alias("values"),
        F.col(_ROW)[COLUMN].alias("metadata"),
    )


def _tombstones(spark: SparkSession, place: Place, keys: DataFrame) -> DataFrame:
    """Return the tombstones of some keys."""
    found = spark.table(place.tombstones).join(keys, "key", "left_semi")
    origin = F.lit(TOMBSTONE_ROW).alias("origin")
    return found.select("key", origin, F.col(COLUMN).alias("metadata"))


def _counts(decisions: DataFrame) -> Counter[str]:
    """Return the sums of what the tasks counted."""
    found = decisions.where(F.col("action") == COUNTS).select(F.explode("counts"))
    sums = found.groupBy("key").agg(F.sum("value").alias("n")).collect()
    return Counter({row["key"]: row["n"] for row in sums})


def _write(decisions: DataFrame, place: Place) -> None:
    """Write tombstones, then rows."""
    graves = decisions.where(F.col("action") == TOMBSTONE)
    if not graves.isEmpty():
        bury(graves.select("key", F.col("metadata").alias(COLUMN)), place.tombstones)
    changed = decisions.where((F.col("action") == ROW) | F.col("seen").isNotNull())
    if not changed.isEmpty():
        _merge_rows(changed, place)


def bury(graves: DataFrame, tombstones: str) -> None:
    """Append tombstones; one that is there twice does no harm.

    Args:
        graves: Has ``key`` and `COLUMN`.
        tombstones: The table, as SQL names it.
    """
    graves.withColumn("since", F.current_timestamp()).writeTo(tombstones).append()


def _merge_rows(changed: DataFrame, place: Place) -> None:
    shape = place.shape
    columns = shape.row_columns(F.col("key"), F.col("values"))
    row = _struct({**columns, COLUMN: F.col("metadata")}).alias(_ROW)
    is_row = (F.col("action") == ROW).alias("is_row")
    source = changed.select(F.struct(row, is_row, "seen").alias(_SOURCE))
    new, seen, remains = (F.col(_SOURCE)[name] for name in (_ROW, "seen", "is_row"))
    # Maps do not compare; their text does, and is the same for the same map.
    is_as_seen = F.to_json(F.col(COLUMN)).eqNullSafe(F.to_json(seen))
    values = {name: new[name] for name in (*columns, COLUMN)}
    merging = source.mergeInto(place.table, _same_key(shape, _column, new))
    merging = merging.whenMatched(is_as_seen & ~remains).delete()
    merging = merging.whenMatched(is_as_seen).update(values)
    merging.whenNotMatched(remains & seen.isNull()).insert(values).merge()


def _struct(columns: Mapping[str, Column]) -> Column:
    return F.struct(*(column.alias(name) for name, column in columns.items()))


def _column(name: str) -> Column:
    return F.col(f"`{name.replace('`', '``')}`")


def _same_key(shape: Shape, column: Callable[[str], Column], other: Column) -> Column:
    return reduce(and_, (column(name).eqNullSafe(other[name]) for name in shape.keys))
