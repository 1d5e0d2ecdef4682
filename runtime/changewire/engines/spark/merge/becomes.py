"""What rows become by changes: the newest of each key, or what Python decides."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.spark.merge.hard import STATE, decided
from changewire.engines.spark.merge.held import Held
from changewire.engines.spark.merge.late import without_deleted
from changewire.engines.spark.merge.mutations import CONTENT, NAMED
from changewire.engines.spark.merge.newest import is_easy, newest
from changewire.engines.spark.merge.pack import packed
from changewire.engines.spark.merge.shapes import Shape
from changewire.tables.mutations import DELETE
from changewire.tables.order import OLDEST, Order
from changewire.tables.row_state import COLUMN, ORDER, order_fields

_KINDS = {"topic": "string", "partition": "int", "element": "int"}


class Becomes(NamedTuple):
    """What rows become.

    Attributes:
        easy: The newest change of each easy key: ``named``, ``content``, ``state`` and ``decided``,
            which is false: it applies if it is newer than the row.
        hard: Columns of `hard.decided_type`, of hard keys; None if there are none.
    """

    easy: DataFrame
    hard: DataFrame | None


def becomes(mutations: DataFrame, shape: Shape, held: Held, *, has_hard: bool) -> Becomes:
    """Return what the rows of a table become.

    Args:
        mutations: As `mutations_of` returns them, without failures; kept, if `has_hard`.
        shape: How the table has its rows.
        held: What is known of the table.
        has_hard: Whether a key may be hard.
    """
    easy, hard = mutations, None
    if has_hard:
        keys = mutations.where(~is_easy()).select("key").distinct()
        if held.has_patches and held.table is not None:
            # What is older than a patched row may still set, or settle, columns of it.
            keys = keys.union(_patched(mutations, shape, held.table)).distinct()
        easy = mutations.join(keys, "key", "left_anti")
        those = mutations.join(keys, "key", "left_semi")
        hard = decided(those, shape, held)
    if held.floor > OLDEST:
        easy = easy.where(_is_beyond(held.floor))
    found = newest(easy, shape)
    if held.deletes is not None and held.deleted is not None:
        late = easy.where((F.col("kind") != DELETE) & (F.col("major") <= held.deleted))
        found = without_deleted(found, late, held.deletes)
    return Becomes(packed(_rows(found), shape), hard)


def _patched(mutations: DataFrame, shape: Shape, table: DataFrame) -> DataFrame:
    """Return the keys of mutations whose rows in a table were patched."""
    rows = table.where(F.col(COLUMN)["columns"].isNotNull()).select(F.struct("*").alias("_row"))
    row = F.col("_row")
    is_same = reduce(and_, (row[name].eqNullSafe(F.col(NAMED)[name]) for name in shape.keys))
    return mutations.join(rows, is_same, "left_semi").select("key")


def _rows(found: DataFrame) -> DataFrame:
    """Return the newest mutations as rows of a table."""
    state = F.struct(
        *ORDER,
        (F.col("kind") == DELETE).alias("deleted"),
        F.lit(None).cast("string").alias("columns"),
    )
    is_decided = F.lit(False).alias("decided")  # noqa: FBT003 - a column of this value
    return found.select(NAMED, CONTENT, state.alias(STATE), is_decided)


def _is_beyond(floor: Order) -> Column:
    """Return the condition that a mutation is newer than a truncate."""
    fields = order_fields(floor)
    parts = [F.lit(fields[name]).cast(_KINDS.get(name, "bigint")).alias(name) for name in ORDER]
    return F.struct(*ORDER) > F.struct(*parts)
