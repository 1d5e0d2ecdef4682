"""One batch: landed as every batch is, and merged into the tables that it feeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.counts import Counts
from changewire.engines.effects import EFFECTS
from changewire.engines.keys_missing import check_keys
from changewire.engines.layout import CHANGE
from changewire.engines.spark.apply.applying import Applying
from changewire.engines.spark.apply.decisions import MANY
from changewire.engines.spark.apply.halves import with_wholes
from changewire.engines.spark.apply.known import (
    keep_deletes,
    keep_tables,
    kept_deletes,
    known_tables,
)
from changewire.engines.spark.apply.merge import merge
from changewire.engines.spark.apply.places import keep_truncated, place_of
from changewire.engines.spark.apply.plan import Plan, plan
from changewire.engines.spark.apply.refuse import refusals, refused
from changewire.engines.spark.apply.routes import is_from, sources_of
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.parts import position_columns
from changewire.engines.spark.stream.batch import BatchWriter
from changewire.engines.spark.stream.progress import TableCounts
from changewire.engines.spark.stream.sinks import BatchId
from changewire.tables.apply import TRUNCATE
from changewire.tables.effects import DELETE
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order, Position
from changewire.tables.routing import goes_to_all
from changewire.tables.ways import From, Routes, routes

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
        """Write a batch, then merge it; done again it changes nothing."""
        rows, applying = decoded.rows, self.applying
        spark = rows.sparkSession
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
        plans = {
            target: plan(spark, target, ways, sources, applying)
            for target, ways in found.targets.items()
        }
        why = refusals(found.refused, with_truncates=truncates)
        why += [refusal for one in plans.values() for refusal in one.refusals]
        good = refused(rows, why, applying.types.reading.format) if why else rows
        counts = self._land(Decoded(good, decoded.rows_as), batch)
        to_all = [one for one in sources.ways if goes_to_all(one[1], one[0])]
        if to_all:
            keep_deletes(applying.checkpoint, batch.number, _effects(good, to_all))
        unused = sources.lone_before_unused
        if unused:
            good, wholes = with_wholes(good)
            unused -= wholes
        tables = Counter(key_missing=sources.key_missing, lone_before_unused=unused)
        for target, made in plans.items():
            tables += self._merge(good, target, found, made, changes=sources.changes)
        keep_tables(spark, applying.checkpoint, batch.number, found.added)
        return counts, dict(sorted((+tables).items()))

    def _merge(
        self, rows: DataFrame, target: Target, found: Routes, made: Plan, *, changes: int
    ) -> Counter[str]:
        """Merge what goes to one table."""
        applying, spark = self.applying, rows.sparkSession
        effects = _effects(rows, found.targets[target])
        namespaces = [namespace for added, namespace in found.added if added == target]
        if namespaces:
            earlier = kept_deletes(spark, applying.checkpoint, namespaces, effects.schema)
            effects = effects if earlier is None else effects.unionByName(earlier)
        if made.has_changed and made.shape is not None:
            applying.tables.evolve(spark, target.name, made.shape.columns)
        place = place_of(spark, target.name, made.shape, applying.tables)
        newest = _newest_truncate(rows, found.targets[target])
        if newest > OLDEST:
            keep_truncated(spark, place.tombstones, newest)
        return merge(effects, place, newest, changes=changes)


def _newest_truncate(rows: DataFrame, ways: list[From]) -> Order:
    """Return the order of the newest truncate that comes from some sources."""
    asked = [one for one in ways if one[1] == TRUNCATE]
    if not asked:
        return OLDEST
    fields = F.struct("sequence", *position_columns())
    found = rows.where(is_from(asked) & F.col("sequence").isNotNull())
    newest = found.agg(F.max(fields).alias("newest")).collect()[0]["newest"]
    if newest is None:
        return OLDEST
    sequence, *position = newest
    return Order((sequence["major"], sequence["minor"]), Position(*position))


def _effects(rows: DataFrame, ways: list[From]) -> DataFrame:
    """Return what the changes from some sources do to rows, one row for each effect."""
    effect = F.col("_effect")
    changes = rows.where((F.col("kind") == CHANGE) & is_from(ways))
    exploded = changes.withColumn("_effect", F.explode(EFFECTS))
    return exploded.select(
        "source",
        *(effect[name].alias(name) for name in ("key", "kind", "names", "sequence")),
        *position_columns(),
        F.when(effect["kind"] != DELETE, F.col("after")).alias("after"),
    )
