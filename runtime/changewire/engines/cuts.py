"""How batches are cut, so that memory stays flat whatever messages weigh."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

BATCH_BYTES: Final = 8 * 2**20
"""Bytes of a batch: enough that Arrow costs little, little enough for many workers a machine."""


def cuts(weights: Sequence[int], *, rows: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield ranges, from first to behind the last, that cover all rows in their order.

    Args:
        weights: Bytes of each row.
        rows: Rows of a range at most.
        limit: Bytes of a range at most; a heavier row is a range of its own.
    """
    totals = [0, *accumulate(weights)]
    start = 0
    while start < len(weights):
        fitting = bisect_right(totals, totals[start] + limit) - 1
        stop = min(max(fitting, start + 1), start + rows, len(weights))
        yield start, stop
        start = stop


def parts(
    batch: pa.RecordBatch, *, rows: int, limit: int = BATCH_BYTES
) -> Iterator[pa.RecordBatch]:
    """Yield a batch of messages in parts, none without a row unless the batch is.

    Args:
        batch: Has a binary column ``value``.
        rows: Messages of a part at most.
        limit: Bytes of the values of a part at most; a longer value is a part of its own.
    """
    if len(batch) <= rows and batch.column("value").nbytes <= limit:
        yield batch
        return
    for start, stop in cuts(lengths(batch.column("value")), rows=rows, limit=limit):
        yield batch.slice(start, stop - start)


def lengths(values: pa.Array) -> list[int]:
    """Return how many bytes each value of a binary column has; 0 for NULL."""
    found: list[int] = pc.fill_null(pc.binary_length(values), 0).to_pylist()
    return found


def joined(
    batches: Iterable[pa.RecordBatch], *, limit: int = BATCH_BYTES
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of small batches in larger ones."""
    pending: list[pa.RecordBatch] = []
    total = 0
    for batch in batches:
        size = batch.nbytes
        if pending and total + size > limit:
            yield combined(pending)
            pending, total = [], 0
        pending.append(batch)
        total += size
    if pending:
        yield combined(pending)


def combined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of at least one batch as one batch."""
    if len(batches) == 1:
        return batches[0]
    (batch,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return batch
