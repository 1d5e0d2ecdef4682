"""One batch: landed as every batch is, and merged into the tables that it feeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from changewire.engines.counts import Counts
from changewire.engines.keys_missing import check_keys
from changewire.engines.spark.apply.applying import Applying
from changewire.engines.spark.apply.decisions import MANY
from changewire.engines.spark.apply.failures import ROW_ID, numbered
from changewire.engines.spark.apply.halves import with_wholes
from changewire.engines.spark.apply.known import keep_deletes, keep_tables, known_tables
from changewire.engines.spark.apply.merge import write
from changewire.engines.spark.apply.merges import decided, effects_of, merge_of
from changewire.engines.spark.apply.plan import plans
from changewire.engines.spark.apply.refuse import failed, refusals, refused
from changewire.engines.spark.apply.routes import sources_of
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.stream.batch import BatchWriter
from changewire.engines.spark.stream.progress import TableCounts
from changewire.engines.spark.stream.sinks import BatchId
from changewire.tables.routing import goes_to_all
from changewire.tables.ways import routes

_SETTINGS: Final = {
    # Names of columns stand in SQL text, where they are quoted and mean nothing else.
    "spark.sql.variable.substitute": "false",
    # What is merged was computed, and is kept, before it is merged.
    "spark.databricks.delta.merge.materializeSource": "none",
}
"""Settings of the session that a stream has for its batches."""


@dataclass(frozen=True)
class TablesWriter(BatchWriter):
    """Writes the batches of a query that applies changes; what `foreachBatch` takes.

    Attributes:
        applying: How changes are applied.
    """

    applying: Applying

    def _write(self, decoded: Decoded, batch: BatchId) -> tuple[Counts, TableCounts]:
        """Write a batch, then merge it; a retry changes nothing.

        Everything is decided first. A change that cannot be applied, for whatever reason of its
        own, is a dead letter when the batch is written.
        """
        rows, applying = numbered(decoded.rows), self.applying
        spark, reading = rows.sparkSession, applying.types.reading
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
        known = known_tables(spark, applying.checkpoint)
        truncates, are_typed = applying.apply_as_truncates, applying.types.are_typed
        sources = sources_of(rows, with_truncates=truncates, are_typed=are_typed)
        # A stream has it off for the sake of its state, of which a batch here has none; plans of
        # small batches take longer with it.
        spark.conf.set("spark.sql.adaptive.enabled", str(sources.changes >= MANY).lower())
        check_keys(sources.changes, sources.key_missing, known)
        found = routes(sources.ways, applying.routing, known)
        planned = plans(spark, found, sources, applying)
        why = refusals(found.refused, with_truncates=truncates) + planned.refusals
        good = refused(rows, why, reading.format) if why else rows
        landing = Decoded(good.drop(ROW_ID), decoded.rows_as)
        self._check(landing, batch)
        merged, unused = good, sources.lone_before_unused
        if unused:
            merged, wholes = with_wholes(good)
            unused -= wholes
        merges = (
            merge_of(merged, target, found, one, applying, changes=sources.changes)
            for target, one in planned.tables.items()
        )
        made = decided(merges)
        if made.failures is not None:
            good = failed(good, made.failures, reading.format)
            landing = Decoded(good.drop(ROW_ID), decoded.rows_as)
            self._check(landing, batch)
        counts = self._land(landing, batch)
        to_all = [one for one in sources.ways if goes_to_all(one[1], one[0])]
        if to_all:
            keep_deletes(applying.checkpoint, batch.number, effects_of(good, to_all))
        tables = Counter(key_missing=sources.key_missing, lone_before_unused=unused)
        for merge, first in made.merges:
            tables += write(merge, first)
        keep_tables(spark, applying.checkpoint, batch.number, found.added)
        return counts, dict(sorted((+tables).items()))
