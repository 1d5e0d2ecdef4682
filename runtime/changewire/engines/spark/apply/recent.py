"""What this process wrote last to a table, so that late changes to it need no look at the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.spark.apply.decide import ROW, TABLE_ROW, TOMBSTONE_ROW
from changewire.engines.spark.apply.failures import FAILURE, ROW_ID
from changewire.engines.spark.apply.shape import CONTENT, NAMED
from changewire.tables.order import NO_SEQUENCE, Sequence

MOST_ROWS: Final = 2**17
MOST_BYTES: Final = 2**25
"""Rows and bytes that are remembered of a table at most; the oldest batches are forgotten first."""

KEPT: Final = ("action", "key", NAMED, CONTENT, "metadata")
"""Columns of `decide.output_type` that are remembered."""


class _Batch:
    """What a batch wrote.

    Attributes:
        mark: The greatest sequence that the table had before.
        rows: Columns of `KEPT`: rows, and tombstones.
        bytes: Their size.
        places: Where the row of each key is.
        sequences: The sequence of each key.
    """

    def __init__(self, mark: Sequence, rows: pa.Table) -> None:
        self.mark = mark
        self.rows = rows
        self.bytes = rows.nbytes
        keys = rows["key"].to_pylist()
        self.places = dict(zip(keys, range(len(keys)), strict=True))
        self.sequences = dict(zip(keys, _sequences(rows), strict=True))


class RecentRows:
    """The rows and tombstones that this process wrote last to a table that it alone writes to.

    Whatever the table has of another key has no sequence beyond that of `bound`.

    Attributes:
        sequences: The sequence of the row or the tombstone of each key that is remembered.
        rows: How many rows and tombstones are remembered.
        bytes: Their size.
    """

    def __init__(self, mark: Sequence, batches: Iterable[_Batch] = ()) -> None:
        """Remember what some batches wrote, the oldest first.

        Args:
            mark: The greatest sequence that the table has; empty if it has none.
            batches: The batches.
        """
        self._mark = mark
        self._batches = _without_oldest([*batches])
        self.rows = sum(len(one.rows) for one in self._batches)
        self.bytes = sum(one.bytes for one in self._batches)
        # A key of a newer batch takes the place of that of an older one.
        pairs = chain.from_iterable(one.sequences.items() for one in self._batches)
        is_one = len(self._batches) == 1
        self.sequences = self._batches[0].sequences if is_one else dict(pairs)

    @property
    def bound(self) -> Sequence:
        """The greatest sequence that the table has of any key that is not remembered."""
        return self._batches[0].mark if self._batches else self._mark

    def with_batch(self, mark: Sequence, rows: pa.Table, after: Sequence) -> RecentRows:
        """Return what is remembered once another batch is written.

        Args:
            mark: The greatest sequence that the table had before.
            rows: Columns of `KEPT`, each key once.
            after: The greatest sequence that the table has now.
        """
        if not len(rows):
            return self
        return RecentRows(after, [*self._batches, _Batch(mark, rows)])

    def held(self, keys: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield what the table has of those keys that are remembered, as `held_rows` has it."""
        left = {*keys}
        for batch in reversed(self._batches):
            if not left:
                return
            found = left & batch.places.keys()
            left -= found
            places = pa.array([batch.places[key] for key in found], pa.int64())
            yield from map(_held, batch.rows.take(places).to_pylist(maps_as_pydicts="strict"))


def _without_oldest(batches: list[_Batch]) -> list[_Batch]:
    """Return the newest batches, as many as are remembered."""
    rows = size = 0
    for number, batch in enumerate(reversed(batches)):
        rows, size = rows + len(batch.places), size + batch.bytes
        if rows > MOST_ROWS or size > MOST_BYTES:
            return batches[len(batches) - number :]
    return batches


def _sequences(rows: pa.Table) -> Iterator[Sequence]:
    sequences = pc.struct_field(rows["metadata"], "sequence")
    parts = (pc.struct_field(sequences, name).to_pylist() for name in ("major", "minor"))
    for major, minor in zip(*parts, strict=True):
        yield NO_SEQUENCE if major is None else (major, minor)


def _held(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row or a tombstone as columns of `decide.input_type`."""
    is_row = row.pop("action") == ROW
    content, named = row[CONTENT], row[NAMED]
    if is_row and isinstance(content, dict):
        # A table has the columns of the key from there.
        content = {**content, **{name: named[name] for name in named if name in content}}
    origin = TABLE_ROW if is_row else TOMBSTONE_ROW
    nothing = {} if is_row else {NAMED: None, CONTENT: None}
    return {**row, CONTENT: content, **nothing, "origin": origin, ROW_ID: None, FAILURE: None}
