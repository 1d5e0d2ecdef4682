"""What rows become by changes: the newest of each key, or what Python decides.

A change is easy if it has a sequence and writes or deletes a whole row. Then its row becomes the
newest change of its key, and `changewire.tables` says the same of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.changelog.shapes import RESCUED
from changewire.engines.json_rows import KEY, with_key
from changewire.engines.spark.merge.facts import RowText
from changewire.engines.spark.merge.hard import STATE, decided
from changewire.engines.spark.merge.late import Held, without_deleted
from changewire.engines.spark.merge.mutations import CONTENT, NAMED, ORDER_FIELDS, is_row_of
from changewire.engines.spark.merge.shapes import Shape
from changewire.tables.mutations import DELETE, FULL
from changewire.tables.order import OLDEST, Order
from changewire.tables.row_state import COLUMN, ORDER, order_fields

_FIRST: Final = "_first"


class Becomes(NamedTuple):
    """What rows become.

    Attributes:
        easy: The newest change of each easy key: ``named``, ``content``, ``state`` and ``decided``,
            which is false: it applies if it is newer than the row.
        hard: Columns of `hard.decided_type`, of hard keys; None without any.
    """

    easy: DataFrame
    hard: DataFrame | None


def becomes(
    mutations: DataFrame,
    shape: Shape,
    held: Held,
    *,
    has_hard: bool,
    text: RowText = RowText.MIXED,
    with_steps: bool = False,
) -> Becomes:
    """Return what rows become by mutations without failures, which are kept if `has_hard`.

    Of hard keys also after each mutation, if steps are wanted.
    """
    easy, hard = mutations, None
    if has_hard:
        keys = mutations.where(~_is_easy()).select("key").distinct()
        if held.has_patches and held.table is not None:
            # What is older than a patched row may still set, or settle, columns of it.
            keys = keys.union(_patched(mutations, shape, held.table)).distinct()
        easy = mutations.join(keys, "key", "left_anti")
        those = mutations.join(keys, "key", "left_semi")
        hard = decided(those, shape, held, with_steps=with_steps)
    if held.floor > OLDEST:
        easy = easy.where(_is_beyond(held.floor))
    found = _newest(easy, shape)
    if held.deletes is not None and held.deleted is not None:
        late = easy.where((F.col("kind") != DELETE) & (F.col("major") <= held.deleted))
        found = without_deleted(found, late, held.deletes)
    rows = _rows(found, shape)
    return Becomes(rows if shape.is_typed else rows_with_key(rows, text), hard)


def _patched(mutations: DataFrame, shape: Shape, table: DataFrame) -> DataFrame:
    """Return the keys of mutations whose rows in a table were patched."""
    rows = table.where(F.col(COLUMN)["columns"].isNotNull()).select(F.struct("*").alias("_row"))
    row = F.col("_row")
    return mutations.join(rows, is_row_of(row, shape), "left_semi").select("key")


def _rows(found: DataFrame, shape: Shape) -> DataFrame:
    """Return the newest mutations as rows of a table."""
    state = F.struct(
        *ORDER,
        (F.col("kind") == DELETE).alias("deleted"),
        F.lit(None).cast("string").alias("columns"),
        (F.col(RESCUED) if shape.is_typed else F.lit(None).cast("string")).alias(RESCUED),
    )
    is_decided = F.lit(False).alias("decided")  # noqa: FBT003 - a column of this value
    return found.select(NAMED, CONTENT, state.alias(STATE), is_decided)


def _is_beyond(floor: Order) -> Column:
    """Return the condition that a mutation is newer than a truncate."""
    fields = order_fields(floor)
    parts = [F.lit(fields[one.name]).cast(one.dataType).alias(one.name) for one in ORDER_FIELDS]
    return F.struct(*ORDER) > F.struct(*parts)


def _is_easy() -> Column:
    return F.col("major").isNotNull() & F.col("kind").isin(FULL, DELETE)


def _newest(mutations: DataFrame, shape: Shape) -> DataFrame:
    """Return the newest mutation of each key, of easy ones."""
    # The columns of a key are compared more quickly than its text.
    of_key = Window.partitionBy(*(F.col(NAMED)[name] for name in shape.keys))
    ordered = of_key.orderBy(
        F.desc("major"), F.desc(F.struct(*ORDER[1:])), F.desc(F.col("kind") == DELETE)
    )
    numbered = mutations.withColumn(_FIRST, F.row_number().over(ordered))
    return numbered.where(F.col(_FIRST) == 1).drop(_FIRST)


def rows_with_key(rows: DataFrame, text: RowText) -> DataFrame:
    """Return rows of JSON text with the columns of their keys, as `json_rows.packed` has them."""
    if text is RowText.WITH_KEY:
        return rows
    if text is RowText.MIXED:
        return rows.mapInArrow(_packed, rows.schema)
    key, content = F.col(NAMED)[KEY], F.col(CONTENT)
    begin = F.substring(key, F.lit(1), F.length(key) - 1)
    comma = F.when(content == "{}", "").otherwise(",")
    return rows.withColumn(
        CONTENT, F.concat(begin, comma, F.substring(content, F.lit(2), F.length(content)))
    )


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        keys = batch.column(NAMED).field(KEY).to_pylist()
        texts = zip(keys, batch.column(CONTENT).to_pylist(), strict=True)
        found = [None if text is None else with_key(key, text) for key, text in texts]
        place = batch.schema.get_field_index(CONTENT)
        yield batch.set_column(place, batch.schema.field(place), pa.array(found, pa.string()))
