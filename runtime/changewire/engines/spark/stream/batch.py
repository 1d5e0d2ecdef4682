"""One batch: decode once, count, compare, and only then write."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from changewire.engines.counts import Counts
from changewire.engines.spark.decode import Decoded, RowsAs
from changewire.engines.spark.stream import limit as limits
from changewire.engines.spark.stream.interrupted import told_shortly
from changewire.engines.spark.stream.java_cause import java_cause_named
from changewire.engines.spark.stream.letters import LettersTopic
from changewire.engines.spark.stream.output import Output
from changewire.engines.spark.stream.progress import TableCounts, as_json, as_text
from changewire.engines.spark.stream.sinks import APPENDS, BatchId
from changewire.engines.spark.write import kept

Listener = Callable[[str], None]
"""Called with one line for each batch."""

BatchListener = Callable[[BatchId, Counts, Decoded], None]
"""Called with what a batch held, once it is written and before Spark commits it."""


@dataclass(frozen=True)
class BatchWriter:
    """Writes the batches of a query; what `foreachBatch` takes.

    It pickles where its listeners do, and keeps nothing between batches: with Spark Connect a copy
    of it runs on the server.

    Attributes:
        query: Id of the query.
        sink: Format of the outputs.
        outputs: The outputs, in the order in which they are written.
        rows_as: How `key`, `before` and `after` are given.
        max_dead_letters: How many dead letters a batch may hold; None for any number.
        notice: Gets a line to read for each batch.
        metrics: Gets a line of JSON for each batch.
        written: Gets the counts and rows of each batch.
        topic: Gets the dead letters too.
    """

    query: str
    sink: str
    outputs: Sequence[Output]
    rows_as: RowsAs
    max_dead_letters: limits.Limit | None
    notice: Listener | None
    metrics: Listener | None
    written: BatchListener | None
    topic: LettersTopic | None

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Write a batch; done again it changes nothing.

        Args:
            rows: Decoded rows.
            number: Number of the batch in its checkpoint.

        Raises:
            ConservationError: The decoded rows do not add up; nothing was written.
            TooManyDeadLettersError: The batch holds too many dead letters; nothing was written.
        """
        started = time.perf_counter()
        batch = BatchId(self.query, number)
        with java_cause_named(), told_shortly(), kept(Decoded(rows, self.rows_as)) as decoded:
            counts, tables = self._write(decoded, batch)
        self._tell(batch, counts, tables, time.perf_counter() - started)

    def _write(self, decoded: Decoded, batch: BatchId) -> tuple[Counts, TableCounts]:
        """Write a batch; return its counts, and what became of its changes in tables."""
        self._check(decoded, batch)
        return self._land(decoded, batch), {}

    def _check(self, decoded: Decoded, batch: BatchId) -> None:
        """Check that a batch adds up, and has no more dead letters than it may have."""
        limits.check(self.max_dead_letters, decoded.counts, decoded, batch.number)

    def _land(self, decoded: Decoded, batch: BatchId) -> Counts:
        """Write the outputs of a batch."""
        counts = decoded.counts
        for output in self.outputs:
            # The first batch makes the tables, with or without rows.
            if counts.of_kind(output.kind) or batch.number == 0:
                APPENDS[self.sink](output.rows(decoded), output, batch)
        if self.topic is not None and counts.dead_letters:
            self.topic.send(decoded, batch)
        if self.written is not None:
            self.written(batch, counts, decoded)
        return counts

    def _tell(self, batch: BatchId, counts: Counts, tables: TableCounts, seconds: float) -> None:
        if self.notice is not None:
            self.notice(as_text(batch, counts, tables, seconds))
        if self.metrics is not None:
            self.metrics(as_json(batch, counts, tables, seconds))
