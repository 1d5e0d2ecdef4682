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
from changewire.engines.spark.apply.failures import (
    FAILURE,
    FAILURE_FIELD,
    ROW_ID,
    ROW_ID_FIELD,
)
from changewire.engines.spark.apply.fit import EFFECT_FIELDS
from changewire.engines.spark.apply.metadata import METADATA
from changewire.engines.spark.apply.shape import CONTENT, NAMED, Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.tables.effects import DELETE, Effect
from changewire.tables.merge import Merged, merged
from changewire.tables.metadata import COLUMN, metadata_of, state_from
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import apply_failed
from changewire.tables.state import State, joined

EFFECT_ROW: Final = 0
TABLE_ROW: Final = 1
TOMBSTONE_ROW: Final = 2

ROW: Final = "row"
TOMBSTONE: Final = "tombstone"
REMOVED: Final = "removed"
COUNTS: Final = "counts"
FAILED: Final = "failed"
"""What a row of the output is: a row to write; a delete, of a row or without one; a row that a
truncate removes; counts of its task; or an effect that cannot be applied."""

_BATCH: Final = 1024
_WITHOUT: Final = (
    f"a row has no {COLUMN}, so something else wrote it; changewire.spark.adopt gives it one"
)


def input_type(shape: Shape) -> StructType:
    """Return the columns of what is decided on: effects, and what the table has of their keys."""
    return StructType(
        [
            StructField("origin", IntegerType()),
            *EFFECT_FIELDS,
            StructField(NAMED, shape.named_type),
            StructField(CONTENT, shape.content_type),
            StructField("metadata", METADATA),
        ]
    )


def output_type(shape: Shape) -> StructType:
    """Return the columns of decisions."""
    return StructType(
        [
            StructField("action", StringType()),
            StructField("key", StringType()),
            StructField(NAMED, shape.named_type),
            StructField(CONTENT, shape.content_type),
            StructField("metadata", METADATA),
            StructField("seen", METADATA),
            StructField("counts", MapType(StringType(), LongType())),
            ROW_ID_FIELD,
            FAILURE_FIELD,
        ]
    )


class _Held(NamedTuple):
    row: State | None
    grave: State | None
    seen: Any


_Rows = list[dict[str, Any]]


class Decide:
    """Decides on rows that are sorted by their key; what `mapInArrow` takes.

    It pickles. Memory holds the effects of one key, and one Arrow batch.
    """

    def __init__(self, shape: Shape, floor: Order = OLDEST) -> None:
        """Remember what rows are, and the order of the newest truncate of the table."""
        self._shape = shape
        self._floor = floor

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a row for each row of the table that changes, each effect that fails, and counts.

        Raises:
            OutputError: Something else wrote a row.
        """
        counts: Counter[str] = Counter()
        schema = pa.schema([*arrow_type(output_type(self._shape))])
        found: _Rows = []
        for key, group in groupby(_rows(batches), key=itemgetter("key")):
            found += self._decisions(key, [*group], counts)
            if len(found) >= _BATCH:
                yield _batch(found, schema)
                found = []
        found.append({"action": COUNTS, "counts": [*(+counts).items()]})
        yield _batch(found, schema)

    def _decisions(self, key: str, rows: _Rows, counts: Counter[str]) -> _Rows:
        """Return what becomes of the row of a key, and which of its effects cannot be applied."""
        held = self._held(rows)
        failed = [_failed(one, one[FAILURE]) for one in rows if one[FAILURE] is not None]
        effects = [one for one in rows if one["origin"] == EFFECT_ROW and one[FAILURE] is None]
        try:
            batch = [self._effect(one) for one in effects]
            becomes = merged(held.row, held.grave, batch, self._floor, counts)
            decided = [] if becomes is None else [self._decision(key, rows, held, becomes)]
        except Exception as error:  # noqa: BLE001 - one key must not end the stream
            why = apply_failed(error, "", "deciding on the row")._asdict()
            return [*failed, *(_failed(one, why) for one in effects)]
        return [*failed, *decided]

    def _effect(self, row: dict[str, Any]) -> Effect:
        content = None if row["kind"] == DELETE else row[CONTENT]
        return effect_of(row, {} if content is None else self._shape.unpack(content))

    def _decision(self, key: str, rows: _Rows, held: _Held, becomes: Merged) -> dict[str, Any]:
        after = becomes.state
        named = next((one[NAMED] for one in rows if one[NAMED] is not None), None)
        found: dict[str, Any] = {"action": REMOVED, "key": key, NAMED: named}
        if held.seen is not None:
            found["seen"] = as_pairs(held.seen)
        if after is not None:
            found["action"] = TOMBSTONE if after.values is None else ROW
            found["metadata"] = as_pairs(metadata_of(after))
            if after.values is not None:
                found[CONTENT] = self._shape.pack(key, after.values)
        return found

    def _held(self, rows: list[dict[str, Any]]) -> _Held:
        row = grave = seen = None
        for found in rows:
            if found["origin"] == TABLE_ROW:
                seen = found["metadata"]
                if seen is None:
                    raise OutputError(_WITHOUT)
                row = state_from(seen, self._shape.unpack(found[CONTENT]))
            elif found["origin"] == TOMBSTONE_ROW:
                new = state_from(found["metadata"], None)
                grave = new if grave is None else joined(grave, new)
        return _Held(row, grave, seen)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist(maps_as_pydicts="strict")


def _failed(row: dict[str, Any], why: dict[str, str]) -> dict[str, Any]:
    return {"action": FAILED, "key": row["key"], ROW_ID: row[ROW_ID], FAILURE: why}


def _batch(found: _Rows, schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(found, schema)
