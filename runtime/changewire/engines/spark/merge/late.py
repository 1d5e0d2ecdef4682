"""Deletes that a log has, for changes that may be older than one of them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.layout import CHANGE
from changewire.engines.spark.merge.befores import moved_in
from changewire.engines.spark.merge.from_log import deletes_something, is_change, with_effects
from changewire.engines.spark.merge.mutations import FAILURE, NAMED, mutations_of
from changewire.engines.spark.merge.newest import is_newer
from changewire.engines.spark.merge.shapes import Shape
from changewire.tables.mutations import DELETE
from changewire.tables.row_state import ORDER


def logged_deletes(
    log: DataFrame, is_of_table: Column, shape: Shape, least: int | None, *, with_befores: bool
) -> DataFrame:
    """Return the deletes of a table that a log has: ``key``, ``named`` and the fields of an order.

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
    moved = None
    if with_befores:
        moved = moved_in(with_effects(changes.where(F.col("op") == "update")))
    deletes = with_effects(changes.where((F.col("kind") == CHANGE) & deletes_something()))
    found = mutations_of(deletes, shape, moved).where(F.col("kind") == DELETE)
    return found.where(F.col(FAILURE).isNull()).select("key", NAMED, *ORDER)


def without_deleted(newest: DataFrame, late: DataFrame, deletes: DataFrame) -> DataFrame:
    """Return the newest mutations of keys without the writes that are older than a delete.

    Args:
        newest: The mutations.
        late: Mutations that may be older than a delete.
        deletes: As `logged_deletes` returns them.
    """
    order = F.struct(*ORDER)
    known = deletes.join(late.select("key").distinct(), "key", "left_semi")
    last = known.groupBy("key").agg(F.max(order).alias("_deleted"))
    found = newest.withColumn("_order", order).join(last, "key", "left")
    is_older = F.col("_deleted").isNotNull() & F.expr(is_newer("_deleted", "_order"))
    return found.where((F.col("kind") == DELETE) | ~is_older).drop("_deleted", "_order")
