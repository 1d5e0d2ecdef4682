"""One batch: decode once, count, compare, and only then write."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from pyspark.sql import DataFrame

from changewire.engines.counts import Counts
from changewire.engines.errors import TooManyDeadLettersError
from changewire.engines.options import BatchId, Limit, MergeCounts, StreamOptions, allowed
from changewire.engines.outcome import place_text
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.reports import TaskReports
from changewire.engines.spark.stream.batch_errors import (
    java_cause_named,
    repeated_if_lost,
    short_interruption,
)
from changewire.engines.spark.stream.direct import append_directly, can_be_direct
from changewire.engines.spark.stream.letters import DeadLettersTopic
from changewire.engines.spark.stream.output import APPENDS, Output, outputs_of
from changewire.engines.spark.stream.progress import as_json, as_text
from changewire.engines.spark.tally import KernelTally
from changewire.engines.spark.write import first_dead_letters, persisted

_REASONS: Final = 3

F = TypeVar("F", bound=Frames)


@dataclass(frozen=True)
class BatchWriter(Generic[F]):
    """Writes the batches of a query; what `foreachBatch` takes.

    It can be pickled if its listeners can, and keeps nothing between batches: with Spark Connect a
    copy of it runs on the server.

    Attributes:
        query: Id of the query.
        options: How the stream is written.
        frames: Returns what decoded rows are: changes or messages.
        topic: Gets the dead letters too.
        native: Sums what the native kernel does; None where that is not known.
        reports: What the tasks that decode a batch report of it; None if they do not.
    """

    query: str
    options: StreamOptions
    frames: Callable[[DataFrame], F]
    topic: DeadLettersTopic | None
    native: KernelTally | None = field(default=None, kw_only=True)
    reports: TaskReports | None = field(default=None, kw_only=True)

    @property
    def outputs(self) -> Sequence[Output]:
        """The outputs, in the order in which they are written."""
        return outputs_of(self.options.outputs)

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Write a batch; a retry changes nothing.

        Args:
            rows: Decoded rows.
            number: Number of the batch in its checkpoint.

        Raises:
            ConservationError: The decoded rows do not add up; nothing was written.
            TooManyDeadLettersError: The batch has too many dead letters; nothing was written.
        """
        started = time.perf_counter()
        batch = BatchId(self.query, number)
        decoded = self.frames(rows)
        with java_cause_named(), short_interruption():
            counts, merged = repeated_if_lost(lambda: self._written(decoded, batch))
        self._report(batch, counts, merged, time.perf_counter() - started)

    def _written(self, decoded: F, batch: BatchId) -> tuple[Counts, MergeCounts]:
        """Write a batch in the way that fits it; return what `_write` returns."""
        written = self._write_directly(decoded, batch)
        if written is not None:
            return written
        with persisted(decoded) as kept:
            return self._write(kept, batch)

    def _write_directly(self, decoded: F, batch: BatchId) -> tuple[Counts, MergeCounts] | None:
        """Write a batch whose rows need not be kept, as `_write` does; None for any other."""
        reports, (first, *others) = self.reports, self.outputs
        if reports is None or not isinstance(decoded, DecodedFrames):
            return None
        if not can_be_direct(self.options, reports):
            return None
        sink = self.options.sink
        appended = append_directly(decoded, first, sink, batch, reports, meanwhile=lambda _: None)
        if appended is None:
            return None
        return self._land(appended.rest, batch, others), MergeCounts()

    def _write(self, decoded: F, batch: BatchId) -> tuple[Counts, MergeCounts]:
        """Write a batch; return its counts, and what became of its changes in tables."""
        self._check(decoded, batch)
        counts = self._land(decoded, batch, self.outputs)
        if self.reports is not None:
            self.reports.take(decoded.rows.rdd.getNumPartitions())
        return counts, MergeCounts()

    def _check(self, decoded: F, batch: BatchId) -> None:
        """Check that a batch adds up, and has no more dead letters than it may have."""
        check_dead_letters(self.options.max_dead_letters, decoded, batch.number)

    def _land(self, decoded: Frames, batch: BatchId, outputs: Sequence[Output]) -> Counts:
        """Write some outputs of a batch; return its counts."""
        counts = decoded.counts
        if self.native is not None:
            counts.native = self.native.take()
        for output in outputs:
            # The first batch creates the tables, with or without rows.
            if counts.of_kind(output.kind) or batch.number == 0:
                APPENDS[self.options.sink](output.rows(decoded), output, batch)
        if self.topic is not None and counts.dead_letters:
            self.topic.send(decoded, batch)
        listener = self.options.listener
        for listen in (listener.written, listener.rejected):
            if listen is not None:
                listen(batch, counts, decoded)
        return counts

    def _report(self, batch: BatchId, counts: Counts, merged: MergeCounts, seconds: float) -> None:
        listener = self.options.listener
        if listener.notice is not None:
            listener.notice(as_text(batch, counts, merged, seconds))
        if listener.metrics is not None:
            listener.metrics(as_json(batch, counts, merged, seconds))
        if listener.merged is not None:
            listener.merged(batch, merged)


def check_dead_letters(limit: Limit | None, decoded: Frames, batch: int) -> None:
    """Check that a batch adds up, and reject it if it has too many dead letters.

    Raises:
        ConservationError: The decoded rows do not add up.
        TooManyDeadLettersError: With how many there are, and the first reasons, without values.
    """
    counts = decoded.counts
    if limit is None or counts.dead_letters <= allowed(limit, counts.elements):
        return
    codes = ", ".join(f"{code} {n}" for code, n in counts.by_error_code.most_common(_REASONS))
    first = first_dead_letters(decoded, limit=_REASONS, show_values=False)
    reasons = "; ".join(f"{place_text(row)}: {row['message']}" for row in first)
    raise TooManyDeadLettersError(
        f"batch {batch}: {counts.dead_letters} of {counts.elements} elements are dead letters "
        f"({codes}), and max_dead_letters is {limit}. Nothing of the batch was written. "
        f"{len(first)} of them: {reasons}"
    )
