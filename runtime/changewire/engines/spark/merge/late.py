"""Deletes that a log has, for changes that may be older than one of them."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import LongType, StringType

from changewire.engines.spark.frames import local_rows
from changewire.engines.spark.merge.befores import moved_in
from changewire.engines.spark.merge.from_log import (
    deletes_something,
    is_change,
    order_column,
    with_effects,
)
from changewire.engines.spark.merge.mutations import FAILURE, NAMED, mutations_of
from changewire.engines.spark.merge.newest import is_newer
from changewire.engines.spark.merge.shapes import Shape, arrow_schema
from changewire.tables.mutations import DELETE
from changewire.tables.row_state import ORDER

_FEW: Final = 50_000
"""Deletes that are sent to the driver, so that they are read once; more are read twice."""


def logged_deletes(
    log: DataFrame, is_of_table: Column, shape: Shape, least: int | None, *, with_befores: bool
) -> DataFrame:
    """Return the deletes of a table that a log has: ``named`` and the fields of an order.

    Args:
        log: The log.
        is_of_table: Condition that its rows go to the table.
        shape: How the table has its rows.
        least: First number of a sequence; older deletes are left out. None: all are returned.
        with_befores: Whether updates may have moved rows by two messages.
    """
    # Statistics of the first number let Delta and Iceberg skip all files but the last.
    is_near = F.col("sequence.major") >= least if least is not None else F.col("op").isNotNull()
    changes = log.where(is_change() & is_of_table & is_near)
    deletes = changes.where(deletes_something())
    moved = None
    if with_befores:
        moved = moved_in(with_effects(changes.where(F.col("op") == "update")))
    in_sql: DataFrame | None = None
    if _has_plain_key(shape):
        named = F.from_json("key", shape.named_type)
        read = deletes.select("*", named.alias(NAMED))
        is_read = reduce(and_, (F.col(NAMED)[name].isNotNull() for name in shape.keys))
        is_plain = is_read & (F.col("op") == DELETE) & F.col("before_key").isNull()
        in_sql = read.where(is_plain).select(NAMED, order_column().alias("_order"))
        in_sql = in_sql.select(NAMED, "_order.*")
        deletes = read.where(~F.coalesce(is_plain, F.lit(False))).drop(NAMED)  # noqa: FBT003
        if moved is None and deletes.isEmpty():  # a task of Python takes longer than this look
            return in_sql
    found = mutations_of(with_effects(deletes), shape, moved).where(F.col("kind") == DELETE)
    found = found.where(F.col(FAILURE).isNull()).select(NAMED, *ORDER)
    return found if in_sql is None else in_sql.unionByName(found)


def _has_plain_key(shape: Shape) -> bool:
    """Whether Spark reads keys from JSON text as Python does: whole numbers, and text."""
    kinds = {type(field.dataType) for field in shape.named_type.fields}
    return shape.is_typed and kinds <= {LongType, StringType}


def without_deleted(newest: DataFrame, late: DataFrame, deletes: DataFrame) -> DataFrame:
    """Return the newest mutations of keys without the writes that are older than a delete.

    Args:
        newest: The mutations.
        late: Mutations that may be older than a delete.
        deletes: As `logged_deletes` returns them.
    """
    keys = late.select(NAMED).distinct()
    last = deletes.join(keys, NAMED, "left_semi").groupBy(NAMED)
    found = last.agg(F.max(F.struct(*ORDER)).alias("_deleted"))
    few = found.limit(_FEW + 1).toArrow()
    if not len(few):
        return newest
    if len(few) <= _FEW:
        kind = found.schema
        rows = local_rows(newest.sparkSession, few.cast(arrow_schema(kind)), kind)
        found = F.broadcast(rows)
    joined = newest.withColumn("_order", F.struct(*ORDER)).join(found, NAMED, "left")
    is_older = F.col("_deleted").isNotNull() & F.expr(is_newer("_deleted", "_order"))
    kept = joined.where((F.col("kind") == DELETE) | ~is_older)
    return kept.select(*newest.columns)
