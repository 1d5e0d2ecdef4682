"""Records to Arrow batches: they end by their bytes, and those of single records by number too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby
from typing import Any, Final

import pyarrow as pa

from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.times import shown_time
from changewire.framing.record import FramingError, Lines, Record

BATCH_ROWS: Final = 16384

BATCH_BYTES: Final = 2**22
"""Bytes of values from which on a batch ends; what is made of them takes many times as much."""


def batches(records: Iterable[Record | Lines]) -> Iterator[pa.RecordBatch]:
    """Yield batches with the columns of `layout.INPUT_COLUMNS`, in the records' order.

    If a file cannot be read further, what was read of it comes before the error.
    """
    for kind, found in groupby(records, type):
        if kind is Lines:
            yield from map(_of_lines, _grouped(found, lambda lines: sum(map(len, lines.values))))
        else:
            yield from map(to_batch, _grouped(found, lambda record: len(record.value or b"")))


def _grouped(found: Iterable[Any], size_of: Callable[[Any], int]) -> Iterator[list[Any]]:
    """Yield what was found in groups, each enough for a batch: pipes give few lines at a time."""
    pending: list[Any] = []
    size = 0
    try:
        for one in found:
            pending.append(one)
            size += size_of(one)
            if len(pending) >= BATCH_ROWS or size >= BATCH_BYTES:
                yield pending
                pending, size = [], 0
    except FramingError:
        if pending:
            yield pending
        raise
    if pending:
        yield pending


def _of_lines(parts: list[Lines]) -> pa.RecordBatch:
    """Return one batch of lines."""
    values = [*chain.from_iterable(part.values for part in parts)]
    numbers = (range(part.number, part.number + len(part.values)) for part in parts)
    paths = [pa.repeat(pa.scalar(part.path), len(part.values)) for part in parts]
    columns = {name: pa.nulls(len(values), kind) for name, kind in INPUT_COLUMNS.items()}
    columns |= {
        "value": pa.array(values, INPUT_COLUMNS["value"]),
        "path": pa.concat_arrays(paths),
        "number": pa.array(chain.from_iterable(numbers), INPUT_COLUMNS["number"]),
    }
    return pa.RecordBatch.from_pydict(columns)


def to_batch(records: list[Record]) -> pa.RecordBatch:
    """Return one batch of records."""
    columns: dict[str, Any] = {
        name: [getattr(record.position, name) for record in records]
        for name in ("topic", "partition", "offset", "path", "number")
    }
    columns |= {
        "value": [record.value for record in records],
        "key": [record.key for record in records],
        "timestamp": [shown_time(record.position.timestamp) for record in records],
        "headers": [[{"key": k, "value": v} for k, v in r.headers] or None for r in records],
    }
    return pa.RecordBatch.from_pydict(
        {name: pa.array(columns[name], kind) for name, kind in INPUT_COLUMNS.items()}
    )


def grouped(
    batches: Iterable[pa.RecordBatch | pa.Table], rows: int, size_limit: int
) -> Iterator[pa.Table]:
    """Yield batches of one schema in groups, each of so many rows or bytes, or more."""
    pending: list[pa.Table] = []
    number = size = 0
    for batch in batches:
        part = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        pending.append(part)
        number, size = number + len(part), size + part.nbytes
        if number >= rows or size >= size_limit:
            yield pa.concat_tables(pending)
            pending, number, size = [], 0, 0
    if number:
        yield pa.concat_tables(pending)
