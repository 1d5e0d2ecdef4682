"""What each row of a table becomes by a batch: decided in tasks, key by key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.types import (
    BooleanType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from changewire.engines.effects import mutation_of
from changewire.engines.errors import OutputError
from changewire.engines.kept import as_pairs
from changewire.engines.spark.apply.failures import (
    FAILURE,
    FAILURE_FIELD,
    ROW_ID,
    ROW_ID_FIELD,
)
from changewire.engines.spark.apply.shape import CONTENT, NAMED
from changewire.engines.spark.apply.typed_shape import EFFECT_FIELDS, Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.tables.merge import Stored, decided_row
from changewire.tables.metadata import COLUMN, metadata_of, state_from
from changewire.tables.mutations import DELETE, RowMutation
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal
from changewire.tables.state import State
from changewire_messages.tables.spark import ROW_METADATA as METADATA

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

BEYOND: Final = "is_beyond"
"""Column of decisions: whether the key was not looked at, as its change is newer than all that the
table has. Then no metadata is expected, and a row of the key is older."""

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
            StructField("expected", METADATA),
            StructField(BEYOND, BooleanType()),
            StructField("counts", MapType(StringType(), LongType())),
            ROW_ID_FIELD,
            FAILURE_FIELD,
        ]
    )


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
        for decisions in self.decisions(dictionaries(batches), counts):
            found += decisions
            if len(found) >= _BATCH:
                yield pa.RecordBatch.from_pylist(found, schema)
                found = []
        found.append({"action": COUNTS, "counts": [*(+counts).items()]})
        yield pa.RecordBatch.from_pylist(found, schema)

    def decisions(self, rows: Iterable[dict[str, Any]], counts: Counter[str]) -> Iterator[_Rows]:
        """Yield what becomes of the row of each key, and which of its effects cannot be applied.

        Args:
            rows: What is decided on, sorted by key, as `input_type` has it.
            counts: Takes what became of the changes.

        Raises:
            OutputError: Something else wrote a row.
        """
        for key, group in groupby(rows, key=itemgetter("key")):
            yield self._decisions(key, [*group], counts)

    def _decisions(self, key: str, rows: _Rows, counts: Counter[str]) -> _Rows:
        """Return what becomes of the row of a key, and which of its effects cannot be applied."""
        stored, expected = self._stored(rows)
        failed = [_failed(one, one[FAILURE]) for one in rows if one[FAILURE] is not None]
        effects = [one for one in rows if one["origin"] == EFFECT_ROW and one[FAILURE] is None]
        named = next((one[NAMED] for one in rows if one[NAMED] is not None), None)

        def written(after: State | None) -> dict[str, Any]:
            return {**self._decision(key, expected, after), NAMED: named}

        made = decided_row(stored, map(self._effect, effects), self._floor, counts, written)
        if isinstance(made, Refusal):
            return [*failed, *(_failed(one, made._asdict()) for one in effects)]
        return failed if made is None else [*failed, made]

    def _effect(self, row: dict[str, Any]) -> RowMutation:
        content = None if row["kind"] == DELETE else row[CONTENT]
        return mutation_of(row, {} if content is None else self._shape.unpack(content))

    def _decision(self, key: str, expected: Any, after: State | None) -> dict[str, Any]:
        found: dict[str, Any] = {"action": REMOVED, "key": key}
        if expected is not None:
            found["expected"] = as_pairs(expected)
        if after is not None:
            found["action"] = TOMBSTONE if after.values is None else ROW
            found["metadata"] = as_pairs(metadata_of(after))
            if after.values is not None:
                found[CONTENT] = self._shape.pack(key, after.values)
        return found

    def _stored(self, rows: _Rows) -> tuple[Stored, Any]:
        """Return what the table has of a key, and the metadata of its row."""
        stored, expected = Stored(), None
        for found in rows:
            if found["origin"] == TABLE_ROW:
                expected = found["metadata"]
                if expected is None:
                    raise OutputError(_WITHOUT)
                stored.row = state_from(expected, self._shape.unpack(found[CONTENT]))
            elif found["origin"] == TOMBSTONE_ROW:
                stored.add_tombstone(state_from(found["metadata"], None))
        return stored, expected


def dictionaries(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Yield the rows of batches, with maps as dictionaries."""
    for batch in batches:
        yield from batch.to_pylist(maps_as_pydicts="strict")


def _failed(row: dict[str, Any], why: dict[str, str]) -> dict[str, Any]:
    return {"action": FAILED, "key": row["key"], ROW_ID: row[ROW_ID], FAILURE: why}
