"""What is known of a table before some changes, and the deletes of its log that are newer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Final, NamedTuple

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import LongType, StringType

from changewire.engines.log import READ
from changewire.engines.spark.jvm import local_rows
from changewire.engines.spark.merge.befores import moved_in
from changewire.engines.spark.merge.from_log import is_change, order_column, with_effects
from changewire.engines.spark.merge.mutations import FAILURE, NAMED, is_newer, mutations_of
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
    deletes = changes.where((F.col("op") == DELETE) | F.col("before_key").isNotNull())
    found = _in_sql(deletes, shape) if _has_plain_key(shape) else None
    found = found or _in_python(deletes, shape)
    if not with_befores:
        return found
    with changed(log.sparkSession, INTERPRETED):
        updates = with_effects(changes.where(F.col("op") == "update"))
        moved = moved_in(updates).localCheckpoint()
    nothing = deletes.where(F.lit(False))  # noqa: FBT003 - a column of this value
    return Deletes(found.rows.unionByName(_deletes_of(nothing, shape, moved)), are_few=False)


def _in_python(deletes: DataFrame, shape: Shape) -> Deletes:
    """Return deletes by their effects, which do not depend on images."""
    no_images = {name: F.lit(None).cast("string") for name in ("before", "after")}
    rows, are_few = _sent(deletes.withColumns(no_images).select(*READ))
    return Deletes(_deletes_of(with_effects(rows), shape), are_few)


def _deletes_of(rows: DataFrame, shape: Shape, moved: DataFrame | None = None) -> DataFrame:
    """Return the deletes among the mutations of rows of a log, and others."""
    found = mutations_of(rows, shape, moved)
    is_good = (F.col("kind") == DELETE) & F.col(FAILURE).isNull()
    return found.where(is_good).select(NAMED, *ORDER)


def _sent(deletes: DataFrame) -> tuple[DataFrame, bool]:
    """Return deletes that are read once, as far as they are few; and whether they are."""
    kind = deletes.schema
    with changed(deletes.sparkSession, INTERPRETED):
        found = deletes.limit(_FEW + 1).toArrow()
    if len(found) > _FEW:
        return deletes, False
    return local_rows(deletes.sparkSession, found.cast(arrow_schema(kind)), kind), True


def _has_plain_key(shape: Shape) -> bool:
    """Whether Spark reads keys from JSON text as Python does: whole numbers, and text."""
    kinds = {type(field.dataType) for field in shape.named_type.fields}
    return shape.is_typed and kinds <= {LongType, StringType}


def _in_sql(deletes: DataFrame, shape: Shape) -> Deletes | None:
    """Return deletes by SQL; None if one of them moves a row, or has a key that SQL cannot read."""
    slim, are_few = _sent(deletes.select("key", "op", "before_key", order_column().alias("_order")))
    read = slim.select("*", F.from_json("key", shape.named_type).alias(NAMED))
    is_read = reduce(and_, (F.col(NAMED)[name].isNotNull() for name in shape.keys))
    is_plain = (
        is_read & (F.col("op") == DELETE) & F.col("before_key").isNull() & ~_has_number(shape)
    )
    if not read.where(~F.coalesce(is_plain, F.lit(False))).isEmpty():  # noqa: FBT003
        return None
    return Deletes(read.select(NAMED, "_order.*"), are_few)


def _has_number(shape: Shape) -> Column:
    """Return the condition that a key may have another value than text for a column of text.

    Python writes such a value as JSON text, and SQL does not.
    """
    names = [f.name for f in shape.named_type.fields if isinstance(f.dataType, StringType)]
    texts = (re.escape(msgspec.json.encode(name).decode()) for name in names)
    found = (F.col("key").rlike(f'{text}:[^"]') for text in texts)
    return reduce(or_, found, F.lit(False))  # noqa: FBT003 - a column of this value


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
