"""The report of a stream: a line for each batch, and their sum."""

from __future__ import annotations

import time

import pyarrow as pa

from changewire.engines.batch_lines import AppliedBatches, BatchProgress, tell_committed
from changewire.engines.counts import ConservationError, Counts
from changewire.engines.decode import Decoder
from changewire.engines.merge.tally import Tally
from changewire.engines.options import BatchId, StreamListener
from changewire.engines.outcome import Outcome, StreamTotals
from changewire.engines.stream.batch import Batch

_MILLISECONDS = 1000


class BatchReports:
    """Sums batches, and calls a listener for each."""

    def __init__(
        self, decoder: Decoder, listener: StreamListener, *, show_values: bool = False
    ) -> None:
        """Start with no batch."""
        self.decoder: Decoder = decoder
        self._listener = listener
        self._tally = Tally(decoder, show_values=show_values)
        self.tables: AppliedBatches = AppliedBatches(listener)
        self._batches = self._gaps = self._passed = 0
        self._lag: int | None = None

    def counted(self, batch: Batch, rows: pa.Table) -> Counts:
        """Add a batch that is not in the log yet; return its counts, checked."""
        counts = self._tally.add(rows)
        if counts.checked().messages != batch.messages:
            raise ConservationError(
                f"the topics delivered {batch.messages} messages, decoded were {counts.messages}"
            )
        return counts

    def landed(
        self,
        id: BatchId,
        batch: Batch,
        counts: Counts,
        *,
        known: int,
        gaps: int,
        lag: int,
        seconds: float,
    ) -> None:
        """Report a batch that is in the log, which had `known` of its rows already."""
        self._batches += 1
        self._gaps, self._lag = self._gaps + gaps, lag
        gaps, self._passed = gaps + self._passed, 0
        self._tally.landed(known)
        newest = batch.newest
        age = None if newest is None else max(round(time.time() - newest / _MILLISECONDS, 3), 0.0)
        progress = BatchProgress(
            batch=id.number,
            rows=batch.messages,
            messages=counts.messages,
            elements=counts.elements,
            changes=counts.changes,
            controls=counts.controls,
            dead_letters=counts.dead_letters,
            seconds=seconds,
            rows_per_second=round(batch.messages / max(seconds, 1e-3), 1),
            offset_gaps=gaps,
            lag_offsets=lag,
            lag_seconds=age,
        )
        tell_committed(self._listener, id, counts, progress)

    def passed(self, gaps: int, lag: int | None = None) -> None:
        """Add offsets without a record that no batch has; the next batch reports them."""
        self._lag = self._lag if lag is None else lag
        self._gaps += gaps
        self._passed += gaps

    def outcome(self, source: str, log: str, *, has_tables: bool) -> Outcome:
        """Return the outcome of a stream that is at its end, but for its totals."""
        return self._tally.outcome([source], log, self.tables.merged if has_tables else None)

    def totals(self, query: str, signal: str | None) -> StreamTotals:
        """Return the totals of the stream."""
        return StreamTotals(query, self._batches, self._gaps, self._lag, signal)
