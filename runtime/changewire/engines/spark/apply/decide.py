"""What each row of a table becomes by a batch: decided in tasks, key by key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql.types import (
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from changewire.engines.effects import effect_of
from changewire.engines.errors import OutputError
from changewire.engines.kept import as_pairs
from changewire.engines.spark.apply.effects import EFFECT
from changewire.engines.spark.apply.metadata import METADATA, ORDER_FIELDS
from changewire.engines.spark.apply.shape import Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.tables.merge import merged
from changewire.tables.metadata import COLUMN, metadata_of, state_from
from changewire.tables.order import OLDEST, Order
from changewire.tables.state import State, joined

EFFECT_ROW: Final = 0
TABLE_ROW: Final = 1
TOMBSTONE_ROW: Final = 2

ROW: Final = "row"
TOMBSTONE: Final = "tombstone"
REMOVED: Final = "removed"
COUNTS: Final = "counts"
"""What a row of the output is: a row to write; a delete, of a row or without one; a row that a
truncate removes; or counts of its task."""

_BATCH: Final = 1024
_WITHOUT: Final = (
    f"a row has no {COLUMN}, so something else wrote it; changewire.spark.adopt gives it one"
)


def input_type(shape: Shape) -> StructType:
    """Return the columns of what is decided on: effects, and what the table has of their keys."""
    return StructType(
        [
            StructField("origin", IntegerType()),
            *(field for field in EFFECT.fields if field.name != "sequence"),
            *ORDER_FIELDS,
            StructField("after", StringType()),
            StructField("content", shape.content_type),
            StructField("metadata", METADATA),
        ]
    )


def output_type(shape: Shape) -> StructType:
    """Return the columns of decisions."""
    return StructType(
        [
            StructField("action", StringType()),
            StructField("key", StringType()),
            StructField("content", shape.content_type),
            StructField("metadata", METADATA),
            StructField("seen", METADATA),
            StructField("counts", MapType(StringType(), LongType())),
        ]
    )


class _Held(NamedTuple):
    row: State | None
    grave: State | None
    seen: Any


class Decide:
    """Decides on rows that are sorted by their key; what `mapInArrow` takes.

    It pickles. Memory holds the effects of one key, and one Arrow batch.
    """

    def __init__(self, shape: Shape, floor: Order = OLDEST) -> None:
        """Remember what rows are, and the order of the newest truncate of the table."""
        self._shape = shape
        self._floor = floor

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a row for each row of the table that changes, and one with counts.

        Raises:
            OutputError: Something else wrote a row.
        """
        counts: Counter[str] = Counter()
        schema = pa.schema([*arrow_type(output_type(self._shape))])
        found: list[dict[str, Any]] = []
        for key, group in groupby(_rows(batches), key=itemgetter("key")):
            decision = self._decision(key, [*group], counts)
            if decision is not None:
                found.append(decision)
            if len(found) == _BATCH:
                yield pa.RecordBatch.from_pylist(found, schema)
                found = []
        found.append({"action": COUNTS, "counts": [*(+counts).items()]})
        yield pa.RecordBatch.from_pylist(found, schema)

    def _decision(
        self, key: str, rows: list[dict[str, Any]], counts: Counter[str]
    ) -> dict[str, Any] | None:
        held = self._held(rows)
        batch = [
            effect_of(one, self._shape.of_message) for one in rows if one["origin"] == EFFECT_ROW
        ]
        becomes = merged(held.row, held.grave, batch, self._floor, counts)
        if becomes is None:
            return None
        after = becomes.state
        found: dict[str, Any] = {"action": REMOVED, "key": key}
        if held.seen is not None:
            found["seen"] = as_pairs(held.seen)
        if after is not None:
            found["action"] = TOMBSTONE if after.values is None else ROW
            found["metadata"] = as_pairs(metadata_of(after))
            if after.values is not None:
                found["content"] = self._shape.pack(key, after.values)
        return found

    def _held(self, rows: list[dict[str, Any]]) -> _Held:
        row = grave = seen = None
        for found in rows:
            if found["origin"] == TABLE_ROW:
                seen = found["metadata"]
                if seen is None:
                    raise OutputError(_WITHOUT)
                row = state_from(seen, self._shape.unpack(found["content"]))
            elif found["origin"] == TOMBSTONE_ROW:
                new = state_from(found["metadata"], None)
                grave = new if grave is None else joined(grave, new)
        return _Held(row, grave, seen)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist(maps_as_pydicts="strict")
