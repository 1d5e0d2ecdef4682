"""Records to Arrow batches, bounded by rows and by bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from changewire.engines.layout import INPUT_COLUMNS
from changewire.framing.record import Lines, Record

BATCH_ROWS = 4096

BATCH_BYTES = 2**20
"""Bytes of the values of a batch; what is made of them takes many times as much memory."""


def batches(records: Iterable[Record | Lines]) -> Iterator[pa.RecordBatch]:
    """Yield batches with the columns of `layout.INPUT_COLUMNS`, in the records' order."""
    pending: list[Record] = []
    size = 0
    for record in records:
        is_whole = isinstance(record, Lines)
        if isinstance(record, Record):
            pending.append(record)
            size += len(record.value or b"")
            is_whole = len(pending) >= BATCH_ROWS or size >= BATCH_BYTES
        if pending and is_whole:
            yield to_batch(pending)
            pending, size = [], 0
        if isinstance(record, Lines):
            yield from _of_lines(record)
    if pending:
        yield to_batch(pending)


def _of_lines(lines: Lines) -> Iterator[pa.RecordBatch]:
    """Yield batches of lines; they are no more bytes than a chunk of a file, and a line."""
    for start in range(0, len(lines.values), BATCH_ROWS):
        values = lines.values[start : start + BATCH_ROWS]
        first = lines.number + start
        columns = {name: pa.nulls(len(values), kind) for name, kind in INPUT_COLUMNS.items()}
        columns |= {
            "value": pa.array(values, INPUT_COLUMNS["value"]),
            "path": pa.repeat(pa.scalar(lines.path), len(values)),
            "number": pa.array(range(first, first + len(values)), INPUT_COLUMNS["number"]),
        }
        yield pa.RecordBatch.from_pydict(columns)


def to_batch(records: list[Record]) -> pa.RecordBatch:
    """Return one batch of records."""
    columns: dict[str, Any] = {
        name: [getattr(record.position, name) for record in records]
        for name in ("topic", "partition", "offset", "path", "number")
    }
    times = [record.position.timestamp for record in records]
    columns |= {
        "value": [record.value for record in records],
        "key": [record.key for record in records],
        "timestamp": [None if time is None else time * 1000 for time in times],
        "headers": [[{"key": k, "value": v} for k, v in r.headers] or None for r in records],
    }
    return pa.RecordBatch.from_pydict(
        {name: pa.array(columns[name], kind) for name, kind in INPUT_COLUMNS.items()}
    )
