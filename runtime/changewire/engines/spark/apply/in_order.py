"""Rows whose changes come in order: what they become is decided by Spark, without Python's share.

The rules are those of `changewire.tables`, for the changes that need least of them: whole rows and
deletes, each with a greater sequence than all that is known of its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.spark.apply.decide import ROW, TOMBSTONE, output_type
from changewire.engines.spark.apply.held import Place, held_rows, held_tombstones
from changewire.engines.spark.apply.metadata import METADATA, ORDER_FIELDS
from changewire.engines.spark.apply.shape import Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.tables.effects import DELETE
from changewire.tables.metadata import VERSION

OTHER: Final = "other"
"""Action of a key that is not decided here; its row has nothing else."""

_FULL: Final = "full"
_POSITION: Final = ("topic", "partition", "offset", "element")
_AFTER: Final = "after"
_IS_THERE: Final = "is_there"


def in_order(effects: DataFrame, place: Place) -> DataFrame:
    """Return decisions as `Decide` makes them, one for each key; `OTHER` where it is not simple.

    Args:
        effects: As for `merge`.
        place: The table; it was never truncated.
    """
    newest = _newest(effects)
    keys = newest.select("key")
    graves = held_tombstones(place, keys).groupBy("key")
    found = newest.join(graves.agg(F.max("metadata.sequence").alias("buried")), "key", "left")
    rows = held_rows(place, keys)
    if rows is None:
        found = found.withColumn("seen", F.lit(None).cast(METADATA))
    else:
        there = rows.select("key", F.col("metadata").alias("seen"), F.lit(True).alias(_IS_THERE))  # noqa: FBT003
        found = found.join(there, "key", "left")
        # A row that something else wrote has no metadata, and is for `Decide` to refuse.
        is_ours = F.col(_IS_THERE).isNull() | F.col("seen").isNotNull()
        found = found.withColumn("are_plain", F.col("are_plain") & is_ours)
    decided = found.select(*_decided(_is_simple()))
    return decided.mapInArrow(Pack(place.shape), output_type(place.shape))


def _newest(effects: DataFrame) -> DataFrame:
    """Return the newest change of each key, and whether each is newer than the one before it."""
    by_position = Window.partitionBy("key").orderBy(*_POSITION)
    is_newer = F.lag("sequence").over(by_position) < F.col("sequence")
    is_plain = F.col("kind").isin(_FULL, DELETE) & F.col("sequence").isNotNull()
    marked = effects.withColumn("is_plain", is_plain & F.coalesce(is_newer, F.lit(True)))  # noqa: FBT003
    fields = ("sequence", *_POSITION)
    last = F.max_by(F.struct(*fields, "kind", _AFTER), F.struct(*fields))
    grouped = marked.groupBy("key").agg(
        last.alias("last"),
        F.bool_and("is_plain").alias("are_plain"),
        F.count("*").alias("changes"),
    )
    return grouped.select("key", "last.*", "are_plain", "changes")


def _is_simple() -> Column:
    """Return the condition that a key's changes are in order, with what is known of it."""
    sequence, seen = F.col("sequence"), F.col("seen")
    is_whole = seen.isNull() | (
        seen["columns"].isNull() & seen["floor"].isNull() & (seen["version"] == VERSION)
    )
    # A sequence that is not there is NULL, as the comparison with it is: anything is newer.
    held = (seen["sequence"], F.col("buried"))
    are_newer = (F.coalesce(sequence > one, F.lit(True)) for one in held)  # noqa: FBT003
    condition = F.col("are_plain") & is_whole
    for is_newer in are_newer:
        condition = condition & is_newer
    return condition


def _decided(is_simple: Column) -> Iterator[Column]:
    """Yield the columns of what `Pack` takes."""
    is_delete = F.col("kind") == DELETE
    order = {field.name: F.col(field.name) for field in ORDER_FIELDS}
    filled = {**order, "version": F.lit(VERSION)}
    metadata = F.struct(
        *(
            filled.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name)
            for field in METADATA.fields
        )
    )
    action = F.when(is_delete, F.lit(TOMBSTONE)).otherwise(F.lit(ROW))
    counts = F.create_map(F.lit("applied"), F.col("changes"))
    yield F.when(is_simple, action).otherwise(F.lit(OTHER)).alias("action")
    yield F.col("key")
    yield F.when(is_simple & ~is_delete, F.col(_AFTER)).alias(_AFTER)
    yield F.when(is_simple, metadata).alias("metadata")
    yield F.when(is_simple, F.col("seen")).alias("seen")
    yield F.when(is_simple, counts).alias("counts")


class Pack:
    """Makes the content of rows of their JSON text; what `mapInArrow` takes. It pickles."""

    def __init__(self, shape: Shape) -> None:
        """Remember what rows are."""
        self._shape = shape

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches with ``content`` in place of ``after``."""
        schema = pa.schema([*arrow_type(output_type(self._shape))])
        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            keys, texts = columns["key"].to_pylist(), columns.pop(_AFTER).to_pylist()
            contents = [*map(self._content, keys, texts)]
            columns["content"] = pa.array(contents, schema.field("content").type)
            arrays = [columns[name].cast(schema.field(name).type) for name in schema.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _content(self, key: str, text: str | None) -> Any:
        return None if text is None else self._shape.pack(key, self._shape.of_message(text))
