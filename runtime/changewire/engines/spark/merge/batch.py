"""One batch: appended to the log, and then merged into its tables; what `foreachBatch` takes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.counts import Counts
from changewire.engines.errors import KeysMissingError, TooManyDeadLettersError
from changewire.engines.layout import DEAD_LETTER, RECORD_PLACE
from changewire.engines.options import BatchId, Limit, MergeCounts, StreamListener, allowed
from changewire.engines.outcome import place_text
from changewire.engines.spark.log.rows import log_rows, refused_rows
from changewire.engines.spark.merge.known import KnownLog, known_log
from changewire.engines.spark.merge.merging import BatchMerge, QueryTables, persisted
from changewire.engines.spark.merge.refusals import WHY
from changewire.engines.spark.merge.summary import BatchFacts, facts_of_batch
from changewire.engines.spark.merge.tuning import batch_settings
from changewire.engines.spark.stream.batch_errors import java_cause_named, short_interruption
from changewire.engines.spark.stream.progress import as_json, as_text
from changewire.engines.spark.tally import KernelTally

_REASONS: Final = 3


@dataclass
class Merger:
    """Writes the batches of a query.

    Attributes:
        query: The tables of the query.
        listener: Called once for each batch.
        native: Sums what the native kernel does; None with Spark Connect.
        known: What the log has; None until the first batch.
    """

    query: QueryTables
    listener: StreamListener = field(default_factory=StreamListener)
    native: KernelTally | None = None
    known: KnownLog | None = None

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Write a batch; a retry changes nothing.

        Raises:
            ConservationError: The decoded rows do not add up; nothing was written.
            TooManyDeadLettersError: The batch has too many dead letters; nothing was written.
            KeysMissingError: No change has a key, and none ever had; nothing was written.
            StreamError: A table cannot be merged into.
        """
        started, batch = time.perf_counter(), BatchId(self.query.query, number)
        settings = batch_settings(rows.sparkSession)
        with java_cause_named(), short_interruption(), settings as most, persisted(rows) as kept:
            facts = facts_of_batch(
                kept,
                are_typed=self.query.options.are_typed,
                with_truncates=self.query.options.apply_as_truncates,
            )
            merged = self._written(kept, batch, facts, most)
        if self.native is not None:
            facts.counts.native = self.native.take()
        seconds, listener = time.perf_counter() - started, self.listener
        for listen, line in ((listener.notice, as_text), (listener.metrics, as_json)):
            if listen is not None:
                listen(line(batch, facts.counts, merged, seconds))

    def _written(
        self, rows: DataFrame, batch: BatchId, facts: BatchFacts, most: int
    ) -> MergeCounts:
        spark, options, log = rows.sparkSession, self.query.options, self.query.options.log
        check_dead_letters(options.max_dead_letters, facts.counts, rows, batch.number)
        if self.known is None:
            there = None if log.schema(spark) is None else log.read(spark)
            with_truncates = options.apply_as_truncates
            self.known = known_log(there, options.routing, with_truncates=with_truncates)
        sources = facts.sources
        if (
            sources.changes
            and sources.changes == sources.key_missing
            and not self.known.tables.names
        ):
            raise KeysMissingError(
                f"none of {sources.changes} changes has a key, so no table can take them; name the "
                "columns of the key by `keys`. Nothing of the batch was written"
            )
        log.append(log_rows(rows), batch.query, batch.number)
        merge = BatchMerge(self.query, self.known, rows, facts, log.read(spark), most)
        merge.tables()
        refused = merge.refused_changes()
        if refused is not None:
            # Last, so that no kill can lose one: an element may be refused twice.
            rows = refused_rows(refused, F.col(WHY), options.decode_options.format)
            log.append(rows, f"{batch.query}-refused", batch.number)
        self.known.add(facts.facts)
        return MergeCounts(dict(sorted((+merge.counts).items())))


def check_dead_letters(limit: Limit | None, counts: Counts, rows: DataFrame, batch: int) -> None:
    """Refuse a batch that has too many dead letters.

    Raises:
        TooManyDeadLettersError: With how many there are, and the first reasons, without values.
    """
    if limit is None or counts.dead_letters <= allowed(limit, counts.elements):
        return
    codes = ", ".join(f"{code} {n}" for code, n in counts.by_error_code.most_common(_REASONS))
    first = (
        rows.where(F.col("kind") == DEAD_LETTER).orderBy(*RECORD_PLACE).limit(_REASONS).collect()
    )
    reasons = "; ".join(f"{place_text(row.asDict())}: {row['message']}" for row in first)
    raise TooManyDeadLettersError(
        f"batch {batch}: {counts.dead_letters} of {counts.elements} elements are dead letters "
        f"({codes}), and max_dead_letters is {limit}. Nothing of the batch was written. "
        f"{len(first)} of them: {reasons}"
    )
