"""The batches of a run: grouped, decided on, written to the outputs, and merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from changewire.engines.counts import Counts
from changewire.engines.delta.store import DeltaStore
from changewire.engines.elements import decoded_schema
from changewire.engines.layout import OUTPUTS
from changewire.engines.python.groups import Letters, count, first_letters
from changewire.engines.python.parquet import ParquetWriters
from changewire.engines.staging import staging

_BATCH_BYTES: Final = 64 * 2**20
"""Bytes of decoded rows that are merged together, from which on a batch ends."""


@dataclass
class RunReport:
    """What a run reports.

    Attributes:
        show_values: Whether the first dead letters show their values.
        progress: Called after each batch with the number of messages so far.
        counts: What the run held.
        first: Its first dead letters.
    """

    show_values: bool = False
    progress: Callable[[int], None] | None = None
    counts: Counts = field(default_factory=Counts)
    first: Letters = field(default_factory=list)

    def take(self, rows: pa.Table) -> None:
        """Take the rows of a batch, before they are merged."""
        for part in rows.to_batches():
            count(part, self.counts)
        self.first = first_letters(self.first, rows, show_values=self.show_values)


def merge_all(
    batches: Iterable[pa.Table], store: DeltaStore, output: str, report: RunReport
) -> None:
    """Decide on batches of decoded rows, write them to the outputs, and merge them.

    Raises:
        ConservationError: They do not add up; the outputs are as they were.
    """
    with (
        staging(output, tuple(OUTPUTS)) as folder,
        ParquetWriters(folder, decoded_schema(), OUTPUTS) as outputs,
    ):
        for rows in batches:
            decided = store.decide(rows)
            report.take(decided.rows)
            for part in decided.rows.to_batches():
                outputs.write(part)
            store.write(decided)
            if report.progress is not None:
                report.progress(report.counts.messages)
        report.counts.checked()


def grouped(
    batches: Iterable[pa.RecordBatch], rows: int, limit: int = _BATCH_BYTES
) -> Iterator[pa.Table]:
    """Yield the rows of batches in groups.

    Args:
        batches: Batches of one schema.
        rows: Rows of a group at most.
        limit: Bytes from which on a group ends.
    """
    pending: list[pa.RecordBatch] = []
    number = size = 0
    for batch in batches:
        start = 0
        while start < len(batch):
            part = batch.slice(start, rows - number)
            start += len(part)
            pending.append(part)
            number, size = number + len(part), size + part.nbytes
            if number == rows or size >= limit:
                yield pa.Table.from_batches(pending)
                pending, number, size = [], 0, 0
    if pending:
        yield pa.Table.from_batches(pending)
