"""The sum of the batches that a run committed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from changewire.engines.counts import Counts
from changewire.engines.options import BatchId, StreamListener, TableCounts
from changewire.engines.outcome import FIRST_DEAD_LETTERS, StreamTotals
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.write import first_dead_letters
from changewire.engines.spark.stream.committed import BatchProgress
from changewire.engines.spark.stream.progress import committed_as_json, committed_as_text

_DeadLetters = list[dict[str, Any]]


class CommittedBatches:
    """Sums the batches of a query, as its listeners and `await_end` report them.

    A batch counts when Spark has committed it: one that was written and not committed is retried
    by the next run, and counts there.

    Attributes:
        counts: Counts of all committed batches.
        letters: The first dead letters, in the order of their batches.
        tables: What became of their changes in tables.
    """

    def __init__(self, counts: Counts, listener: StreamListener, *, show_values: bool) -> None:
        """Start at nothing.

        Args:
            counts: Counts of nothing yet, of the rows that the query writes.
            listener: Its ``notice`` and ``metrics`` get a line for each committed batch.
            show_values: Whether dead letters show the start of their values.
        """
        self.counts = counts
        self.letters: _DeadLetters = []
        self.tables: Counter[str] = Counter()
        self._listener = listener
        self._show_values = show_values
        self._written: dict[int, tuple[BatchId, Counts, _DeadLetters]] = {}
        self._merged: dict[int, TableCounts] = {}
        self._batches = 0
        self._query = ""
        self._gaps: int | None = None
        self._lag: int | None = None

    @property
    def listener(self) -> StreamListener:
        """What the query calls for each batch that it writes."""
        return StreamListener(written=self._keep_written, merged=self._keep_merged)

    def committed(self, progress: BatchProgress) -> None:
        """Add a batch that was committed, and report it."""
        batch, counts, letters = self._written.pop(progress.batch)
        merged = self._merged.pop(progress.batch)
        self.counts.add_all(counts)
        self.tables.update(merged)
        self.letters += letters[: FIRST_DEAD_LETTERS - len(self.letters)]
        self._query = batch.query
        self._batches += 1
        self._lag = progress.lag_offsets
        if progress.offset_gaps is not None:
            self._gaps = (self._gaps or 0) + progress.offset_gaps
        if self._listener.notice is not None:
            self._listener.notice(committed_as_text(merged, progress))
        if self._listener.metrics is not None:
            self._listener.metrics(committed_as_json(batch, counts, merged, progress))

    def stream(self, signal: str | None) -> StreamTotals:
        """Return what a streaming query adds to an outcome."""
        return StreamTotals(self._query, self._batches, self._gaps, self._lag, signal)

    def _keep_written(self, batch: BatchId, counts: Counts, decoded: Frames) -> None:
        """Keep the content of a batch until it is committed."""
        wanted = FIRST_DEAD_LETTERS - len(self.letters)
        letters: _DeadLetters = []
        if counts.dead_letters and wanted > 0:
            letters = first_dead_letters(decoded, limit=wanted, show_values=self._show_values)
        self._written[batch.number] = batch, counts, letters

    def _keep_merged(self, batch: BatchId, merged: TableCounts) -> None:
        """Keep what became of a batch in tables until it is committed."""
        self._merged[batch.number] = merged
