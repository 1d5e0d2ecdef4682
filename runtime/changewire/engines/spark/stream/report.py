"""What is said of batches: a line to read, a line of JSON, and the sum of what a run commits."""

from __future__ import annotations

from typing import Any

from changewire.engines.batch_lines import (
    AppliedBatches,
    BatchProgress,
    counts_as_json,
    tell_committed,
)
from changewire.engines.counts import Counts
from changewire.engines.options import BatchId, StreamListener
from changewire.engines.outcome import FIRST_DEAD_LETTERS, StreamTotals
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.write import first_dead_letters

_DeadLetters = list[dict[str, Any]]


def tell(
    listener: StreamListener, batch: BatchId, counts: Counts, decoded: Frames, seconds: float
) -> None:
    """Call a listener with a batch that was appended to a log."""
    if listener.notice is not None:
        rate = counts.messages / max(seconds, 1e-6)
        (first, what), *others = counts.totals()
        parts = ", ".join(f"{number} {words}" for number, words in others)
        listener.notice(
            f"batch {batch.number}: {counts.messages} messages, {counts.elements} elements: "
            f"{first} {what}, {parts}; {seconds:.1f} s, "
            f"{rate:.0f} messages a second"
        )
    if listener.metrics is not None:
        listener.metrics(counts_as_json(batch, counts, seconds))
    if listener.written is not None:
        listener.written(batch, counts, decoded)


class CommittedBatches:
    """Sums the batches that Spark commits; one that is only written is retried by the next run."""

    def __init__(
        self, counts: Counts, listener: StreamListener, *, show_values: bool = False
    ) -> None:
        """Start with counts of nothing yet; the listener gets lines for each committed batch."""
        self.counts = counts
        self.letters: _DeadLetters = []
        self.tables: AppliedBatches = AppliedBatches(listener)
        self.totals: StreamTotals = StreamTotals("", 0, None, None, None)
        self._listener = listener
        self._show_values = show_values
        self._written: dict[int, tuple[BatchId, Counts, _DeadLetters]] = {}

    def written(self, batch: BatchId, counts: Counts, decoded: Frames) -> None:
        """Keep what is said of a batch until it is committed."""
        wanted = FIRST_DEAD_LETTERS - len(self.letters)
        letters: _DeadLetters = []
        if counts.dead_letters and wanted > 0:
            letters = first_dead_letters(decoded.rows, limit=wanted, show_values=self._show_values)
        self._written[batch.number] = batch, counts, letters

    def committed(self, progress: BatchProgress) -> None:
        """Add a batch that was committed, and report it."""
        batch, counts, letters = self._written.pop(progress.batch)
        self.counts.add_all(counts)
        self.letters += letters[: FIRST_DEAD_LETTERS - len(self.letters)]
        gaps = self.totals.offset_gaps
        if progress.offset_gaps is not None:
            gaps = (gaps or 0) + progress.offset_gaps
        number = self.totals.batches + 1
        self.totals = StreamTotals(batch.query, number, gaps, progress.lag_offsets, None)
        tell_committed(self._listener, batch, counts, progress)
