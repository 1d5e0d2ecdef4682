"""One batch: appended to the log, and then merged into its tables; what `foreachBatch` takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.applied import check_keys
from changewire.engines.by_table import Applied
from changewire.engines.known import KnownLog
from changewire.engines.log import REFUSED
from changewire.engines.options import BatchId, StreamListener
from changewire.engines.spark.cause import named_errors, repeated_if_lost
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.log.land import check_dead_letters
from changewire.engines.spark.log.rows import accepted_attempts, log_rows, refused_rows
from changewire.engines.spark.merge.facts import BatchFacts, columns_of, facts_of_batch, known_log
from changewire.engines.spark.merge.merging import BatchMerge
from changewire.engines.spark.merge.part import QueryTables, persisted
from changewire.engines.spark.merge.refusals import WHY
from changewire.engines.spark.merge.tuning import batch_settings
from changewire.engines.spark.stream.report import tell
from changewire.engines.spark.worker import KernelTally


@dataclass
class Merger:
    """Writes the batches of a query.

    Attributes:
        query: The tables of the query.
        listener: Called once for each batch.
        native: Sums what the native kernel does; None with Spark Connect.
        key_columns: Columns of the key that a user named.
        has_refused: Whether the log has refused changes; None until the first batch.
        known: The content of the log; None until the first batch.
    """

    query: QueryTables
    listener: StreamListener = field(default_factory=StreamListener)
    native: KernelTally | None = None
    key_columns: Sequence[str] | None = None
    has_refused: bool | None = None
    known: KnownLog | None = None

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Write a batch; a retry changes nothing."""
        started, batch = time.perf_counter(), BatchId(self.query.query, number)
        settings = batch_settings(rows.sparkSession)
        with named_errors(), settings as most, persisted(rows) as kept:
            facts = facts_of_batch(kept, self.query.options)
            merged = repeated_if_lost(lambda: self._written(kept, batch, facts, most))
            if self.native is not None:
                facts.counts.native = self.native.take()
            seconds = time.perf_counter() - started
            tell(self.listener, batch, facts.counts, DecodedFrames(kept), merged, seconds)

    def _written(self, rows: DataFrame, batch: BatchId, facts: BatchFacts, most: int) -> Applied:
        spark, options, log = rows.sparkSession, self.query.options, self.query.options.log
        check_dead_letters(options.tables.max_dead_letters, facts.counts, rows, batch.number)
        if self.known is None:
            there = None if log.schema(spark) is None else log.read(spark)
            with_truncates = options.tables.apply_truncates
            self.known = known_log(
                there, options.routing, with_truncates=with_truncates, table_format=log.table_format
            )
        sources, has_tables = facts.sources, bool(self.known.tables.names)
        check_keys(
            (sources.changes, sources.key_missing),
            self.key_columns,
            lambda: columns_of(rows),
            has_tables=has_tables,
        )
        log.append(log_rows(rows), batch.query, batch.number)
        logged = log.read(spark)
        logged = accepted_attempts(logged) if self._has_refused(logged) else logged
        merge = BatchMerge(self.query, self.known, rows, facts, logged, most)
        merge.tables()
        refused = merge.refused_changes()
        if refused is not None:
            # Last, so that no kill can lose one: an element may be refused twice.
            rows = refused_rows(refused, F.col(WHY))
            log.append(rows, f"{batch.query}-refused", batch.number)
            self.has_refused = True
        self.known.add(facts.facts)
        unmatched = options.unmatched(self.known.tables.names.values())
        return Applied(dict(sorted((+merge.counts).items())), merge.by_table, unmatched)

    def _has_refused(self, log: DataFrame) -> bool:
        """Whether the log has refused changes: to later changes they are as if they never came."""
        if self.has_refused is None:
            self.has_refused = not log.where(F.col("kind") == REFUSED).isEmpty()
        return self.has_refused
