"""The report of a stream: a line for each batch, and their sum."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pyarrow as pa

from changewire.engines.batch_lines import (
    AppliedBatches,
    BatchProgress,
    committed_as_json,
    committed_text,
)
from changewire.engines.by_table import Applied
from changewire.engines.counts import ConservationError, Counts, MessageCounts
from changewire.engines.decode import Decoder
from changewire.engines.merge.tally import Tally
from changewire.engines.options import BatchId, StreamListener
from changewire.engines.outcome import Outcome, StreamTotals
from changewire.engines.stream.batch import Batch

_MILLISECONDS = 1000


@dataclass(frozen=True)
class Committed:
    """A batch that is in the log.

    Attributes:
        id: Id of the stream, and number of the batch.
        batch: The batch.
        known: How many of the rows the log had already.
        gaps: Offsets without a record.
        lag: Offsets behind the ends of the partitions; None if they are not known.
        seconds: How long it took, without waiting for messages.
    """

    id: BatchId
    batch: Batch
    known: int
    gaps: int
    lag: int | None
    seconds: float


class BatchReports:
    """Sums batches, and calls a listener for each."""

    def __init__(
        self, decoder: Decoder, listener: StreamListener, *, show_values: bool = False
    ) -> None:
        """Start with no batch."""
        self.decoder: Decoder = decoder
        self._listener = listener
        self._tally = Tally(decoder, show_values=show_values)
        self._applied = AppliedBatches(listener)
        self._batches = self._gaps = 0
        self._lag: int | None = None

    def counted(self, batch: Batch, rows: pa.Table) -> Counts:
        """Add a batch that is not in the log yet; return its counts, checked."""
        counts = self._tally.add(rows)
        if counts.checked().messages != batch.messages:
            raise ConservationError(
                f"the topics delivered {batch.messages} messages, decoded were {counts.messages}"
            )
        return counts

    def landed(self, one: Committed, counts: Counts) -> None:
        """Report a batch that is in the log."""
        self._batches += 1
        self._gaps, self._lag = self._gaps + one.gaps, one.lag
        self._tally.landed(one.known)
        progress = _progress(one, counts)
        if self._listener.notice is not None:
            self._listener.notice(committed_text(progress))
        if self._listener.metrics is not None:
            self._listener.metrics(committed_as_json(one.id, counts, progress))

    def passed(self, gaps: int) -> None:
        """Add offsets without a record that no batch has."""
        self._gaps += gaps

    def applied(self, batch: BatchId, merged: Applied, seconds: float) -> None:
        """Add what became of changes in tables, and report it."""
        self._applied.add(batch, merged, seconds)

    def outcome(self, source: str, log: str, *, has_tables: bool) -> Outcome:
        """Return the outcome of a stream that is at its end, but for its totals."""
        return self._tally.outcome([source], log, self._applied.merged if has_tables else None)

    def totals(self, query: str, signal: str | None) -> StreamTotals:
        """Return the totals of the stream."""
        return StreamTotals(query, self._batches, self._gaps, self._lag, signal)


def _progress(one: Committed, counts: Counts) -> BatchProgress:
    is_of_messages = isinstance(counts, MessageCounts)
    newest = one.batch.newest
    age = None if newest is None else max(round(time.time() - newest / _MILLISECONDS, 3), 0.0)
    return BatchProgress(
        batch=one.id.number,
        rows=one.batch.messages,
        messages=counts.messages,
        elements=counts.elements,
        changes=0 if is_of_messages else counts.changes,
        controls=0 if is_of_messages else counts.controls,
        dead_letters=counts.dead_letters,
        seconds=one.seconds,
        rows_per_second=round(one.batch.messages / max(one.seconds, 1e-3), 1),
        offset_gaps=one.gaps,
        lag_offsets=one.lag,
        lag_seconds=age,
    )
