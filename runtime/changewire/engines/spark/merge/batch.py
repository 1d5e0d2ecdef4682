"""New rows of a log, merged into tables; what `foreachBatch` takes."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.batch_lines import tell_applied
from changewire.engines.by_table import Applied
from changewire.engines.known import KnownLog
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.log import ATTEMPT, REFUSED
from changewire.engines.options import BatchId, StreamListener
from changewire.engines.spark.cause import GONE, full_text, named_errors, repeated_if_lost
from changewire.engines.spark.frames import persisted
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.log.rows import accepted_attempts, newest, of_target, refused_rows
from changewire.engines.spark.merge.facts import BatchFacts, facts_of_batch, known_log
from changewire.engines.spark.merge.from_log import is_chosen, with_effects
from changewire.engines.spark.merge.merging import BatchMerge
from changewire.engines.spark.merge.part import QueryTables
from changewire.engines.spark.merge.refusals import WHY
from changewire.engines.spark.merge.resume import applied_log
from changewire.engines.spark.merge.tuning import batch_settings

_FEW_TABLES: Final = 2
"""Tables of a batch at most for which its rows are read from the log again: to keep them in memory
costs as much as to read them for some three tables."""


@dataclass
class LogMerger:
    """Merges the batches of a query on a log.

    Attributes:
        query: The tables of the query.
        progress: Folder of the query's own checkpoint.
        listener: Called once for each batch.
        known: The content of the log that is in the tables; None until the first batch.
        has_refused: Whether the log has changes that the target refused.
        has_replays: Whether it has rows of replays, of which the newest counts.
    """

    query: QueryTables
    progress: str
    listener: StreamListener = field(default_factory=StreamListener)
    known: KnownLog | None = None
    has_refused: bool = False
    has_replays: bool = False

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Merge a batch; a retry changes nothing."""
        started, batch = time.perf_counter(), BatchId(self.query.query, number)
        settings = batch_settings(rows.sparkSession)
        changes = rows.where(F.col("kind").isin(CHANGE, CONTROL))
        with named_errors(), settings as most:
            facts = facts_of_batch(changes, self.query.options)
            if facts.operations or facts.left_out:
                with _kept(changes, facts) as kept:
                    merged = repeated_if_lost(lambda: self._merged(kept, batch, facts, most))
                tell_applied(self.listener, batch, merged, time.perf_counter() - started)

    def _merged(self, rows: DataFrame, batch: BatchId, facts: BatchFacts, most: int) -> Applied:
        spark, options = rows.sparkSession, self.query.options
        target = options.routing.template.text
        logged = of_target(options.log.read(spark), target)
        known = self.known = self.known or self._begun(logged, batch.number)
        if facts.old:
            rows = with_effects(rows).localCheckpoint()
            facts = facts_of_batch(rows, options)
        if facts.left_out:
            rows = rows.where(is_chosen(options.routing))
        rows = newest(rows, logged) if self.has_replays else rows
        logged = accepted_attempts(logged) if self.has_refused else logged
        merge = BatchMerge(self.query, known, rows, facts, logged, most)
        merge.tables()
        refused = merge.refused_changes()
        if refused is not None:
            # Last, so that no kill can lose one: an element may be refused twice.
            options.log.add(refused_rows(refused, F.col(WHY), target, F.col(ATTEMPT)))
            self.has_refused = True
        known.add(facts.facts)
        known.seen.add(facts.names)
        merge.tally.counts["left_out"] += facts.left_out
        counts = dict(sorted((+merge.tally.counts).items()))
        return Applied(counts, merge.tally.by_table(known.account), options.unmatched(known))

    def _begun(self, log: DataFrame, batch: int) -> KnownLog:
        """Return the content of a log that is in the tables, and look for refused changes in it."""
        options = self.query.options
        target = options.routing.template.text
        is_refused, is_again = F.col("kind") == REFUSED, F.col(ATTEMPT) > 0
        ((refused, later),) = log.agg(F.count_if(is_refused), F.count_if(is_again)).collect()
        self.has_refused, self.has_replays = bool(refused), bool(later)
        known = partial(
            known_log,
            routing=options.routing,
            with_truncates=options.tables.apply_truncates,
            table_format=options.log.table_format,
        )
        try:
            applied = applied_log(log.sparkSession, options.log, self.progress, batch)
            return known(None if applied is None else of_target(applied, target))
        except RAISED as error:
            if not GONE.search(full_text(error)):
                raise
            # That version was cleaned up. To know more lets more late changes be looked at.
            return known(log)


def _kept(rows: DataFrame, facts: BatchFacts) -> AbstractContextManager[DataFrame]:
    """Keep the rows of a batch meanwhile, if several tables read them."""
    return persisted(rows) if len(facts.names) > _FEW_TABLES else nullcontext(rows)
