"""What is known of a table before some changes, and the deletes of its log that are newer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructField, StructType

from changewire.engines import effects
from changewire.engines.log import READ
from changewire.engines.merge.mutations import fitted, mutations_of
from changewire.engines.spark.jvm import local_rows
from changewire.engines.spark.merge.befores import moved_in
from changewire.engines.spark.merge.from_log import is_change, with_effects
from changewire.engines.spark.merge.mutations import NAMED, ORDER_FIELDS, is_newer
from changewire.engines.spark.merge.shapes import Shape, arrow_schema
from changewire.engines.spark.session import INTERPRETED, changed
from changewire.tables.mutations import DELETE
from changewire.tables.order import OLDEST, Order
from changewire.tables.row_state import ORDER

_FEW: Final = 50_000
"""Deletes that are sent to the driver, so that they are read once; more are read twice."""


class Deletes(NamedTuple):
    """Deletes of a table that a log has.

    Attributes:
        rows: ``named`` and the fields of an order.
        are_few: Whether the driver has them.
    """

    rows: DataFrame
    are_few: bool


@dataclass(frozen=True)
class Held:
    """What is known of a table before some changes.

    Attributes:
        table: Its rows; None without any.
        deletes: Its deletes, as `logged_deletes` returns them; None if no change can be older.
        deleted: Greatest first number of the sequence of a delete; None without `deletes`.
        floor: Order of the newest truncate.
        has_patches: Whether it may have rows that were patched.
    """

    table: DataFrame | None = None
    deletes: Deletes | None = None
    deleted: int | None = None
    floor: Order = OLDEST
    has_patches: bool = False


def logged_deletes(
    log: DataFrame,
    is_of_table: Column,
    shape: Shape,
    bounds: tuple[int, int] | None,
    *,
    with_befores: bool,
) -> Deletes:
    """Return the deletes of a table that a log has, all or with a first number within bounds."""
    # Statistics of the first number let Delta and Iceberg skip all files but the last.
    major = F.col("sequence.major")
    is_near = F.col("op").isNotNull() if bounds is None else major.between(*bounds)
    changes = log.where(is_change() & is_of_table & is_near)
    is_move = F.col("before_key").isNotNull()
    images = {"before": F.lit(None).cast("string"), "after": F.when(is_move, F.col("after"))}
    deletes = changes.where((F.col("op") == DELETE) | is_move)
    found = _few_or_all(deletes.withColumns(images).select(*READ), shape)
    if not with_befores:
        return found
    with changed(log.sparkSession, INTERPRETED):
        updates = with_effects(changes.where(F.col("op") == "update"))
        moved = moved_in(updates).select("key", *ORDER).localCheckpoint()
    return Deletes(found.rows.unionByName(_in_tasks(moved, shape, _named)), are_few=False)


def _few_or_all(rows: DataFrame, shape: Shape) -> Deletes:
    """Return the deletes that rows of a log say; the driver reads them once, if they are few."""
    spark, kind = rows.sparkSession, _type(shape)
    with changed(spark, INTERPRETED):
        found = rows.limit(_FEW + 1).toArrow()
    if len(found) > _FEW:
        return Deletes(_in_tasks(rows, shape, _deletes), are_few=False)
    known = _deletes(found, shape).cast(arrow_schema(kind))
    return Deletes(local_rows(spark, known, kind), are_few=True)


def _in_tasks(
    rows: DataFrame, shape: Shape, of: Callable[[pa.Table, Shape], pa.Table]
) -> DataFrame:
    kind = _type(shape)

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = arrow_schema(kind)
        for batch in batches:
            yield from of(pa.Table.from_batches([batch]), shape).cast(schema).to_batches()

    return rows.mapInArrow(each, kind)


def _deletes(rows: pa.Table, shape: Shape) -> pa.Table:
    """Return the deletes that rows of a log say by themselves, as `_named` does."""
    found = mutations_of(effects.with_effects(rows), range(len(rows)))
    # A move that does not fit is refused, so its row stays.
    whole = fitted(found, shape.rows).mutations
    return _named(whole.filter(pc.equal(whole["kind"], DELETE)), shape)


def _named(found: pa.Table, shape: Shape) -> pa.Table:
    """Return mutations with the columns of their keys; those whose keys do not fit are left out."""
    made = shape.rows.fitted(found["key"], pa.nulls(len(found), pa.string()))
    columns = [made.rows.field(name) for name in shape.keys]
    keys = pa.StructArray.from_arrays(columns, [*shape.keys])
    fits = pa.array([index not in made.failures for index in range(len(found))], pa.bool_())
    return pa.table({NAMED: keys, **{name: found[name] for name in ORDER}}).filter(fits)


def _type(shape: Shape) -> StructType:
    return StructType([StructField(NAMED, shape.named_type), *ORDER_FIELDS])


def without_deleted(newest: DataFrame, late: DataFrame, deletes: Deletes) -> DataFrame:
    """Return the newest mutations of keys without the writes that are older than a delete."""
    rows = deletes.rows
    if not deletes.are_few:
        rows = rows.join(late.select(NAMED).distinct(), NAMED, "left_semi")
    found = rows.groupBy(NAMED).agg(F.max(F.struct(*ORDER)).alias("_deleted"))
    if deletes.are_few:
        found = F.broadcast(found)
    joined = newest.withColumn("_order", F.struct(*ORDER)).join(found, NAMED, "left")
    is_older = F.col("_deleted").isNotNull() & F.expr(is_newer("_deleted", "_order"))
    kept = joined.where((F.col("kind") == DELETE) | ~is_older)
    return kept.select(*newest.columns)
