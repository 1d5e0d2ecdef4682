"""One batch: landed as every batch is, and merged into the tables that it feeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.counts import Counts
from changewire.engines.effects import check_keys
from changewire.engines.options import BatchId, TableCounts
from changewire.engines.spark.apply.decisions import MANY
from changewire.engines.spark.apply.effects import effects_of, with_paired_updates
from changewire.engines.spark.apply.failures import (
    ROW_ID,
    failed,
    numbered,
    refusals,
    refused,
)
from changewire.engines.spark.apply.known import (
    keep_deletes,
    keep_tables,
    kept_deletes,
    known_tables,
)
from changewire.engines.spark.apply.merge import SparkMerge
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.plan import TablePlan, plans
from changewire.engines.spark.apply.sources import BatchSources, is_from, sources_of
from changewire.engines.spark.apply.tables import tables_of
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.parts import position_columns
from changewire.engines.spark.stream.batch import BatchWriter
from changewire.tables import planner
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, ChangePosition, Order
from changewire.tables.routing import TRUNCATE, Namespace, RouteKey, Routes, goes_to_all

_SETTINGS: Final = {
    # Names of columns stand in SQL text, where they are quoted and mean nothing else.
    "spark.sql.variable.substitute": "false",
    # What is merged was computed, and is kept, before it is merged.
    "spark.databricks.delta.merge.materializeSource": "none",
}
"""Settings of the session that a stream has for its batches."""


@dataclass(frozen=True)
class SparkBatch:
    """A batch as `changewire.tables.planner` plans it.

    Attributes:
        landing: Decoded rows with effects; changes that cannot be applied are dead letters.
        rows: The same with the images of updates paired.
        sources: Where the changes come from.
        options: How changes are applied.
        tables: How each table has its rows; empty until the batch is routed.
    """

    landing: DataFrame
    rows: DataFrame
    sources: BatchSources
    options: ApplyOptions
    tables: dict[Target, TablePlan]

    def routed(self, routes: Routes) -> SparkBatch:
        """Return the batch in which changes are refused that no table can take."""
        options = self.options
        planned = plans(self.rows.sparkSession, routes, self.sources, options)
        why = refusals(routes.refused, with_truncates=options.apply_as_truncates)
        why += planned.refusals
        rows = refused(self.rows, why, options.types.decode_options.format) if why else self.rows
        return replace(self, landing=rows, rows=rows, tables=planned.tables)

    def paired(self) -> tuple[SparkBatch, int]:
        """Return the batch with the images of updates paired, and how many updates had both."""
        rows, number = with_paired_updates(self.landing)
        return replace(self, rows=rows), number

    def without(self, failures: list[DataFrame]) -> SparkBatch:
        """Return the batch in which more changes are dead letters.

        Args:
            failures: Which: `ROW_ID` and `FAILURE`.
        """
        every = reduce(DataFrame.unionAll, failures)
        options = self.options.types.decode_options
        return replace(self, landing=failed(self.landing, every, options.format))


@dataclass(frozen=True)
class TablesWriter(BatchWriter):
    """Writes the batches of a query that applies changes; what `foreachBatch` takes.

    Attributes:
        apply_options: How changes are applied.
    """

    apply_options: ApplyOptions

    def _write(self, decoded: Decoded, batch: BatchId) -> tuple[Counts, TableCounts]:
        """Write a batch, then merge it; a retry changes nothing."""
        return apply_batch(
            decoded,
            batch.number,
            self.apply_options,
            check=lambda landing: self._check(landing, batch),
            land=lambda landing: self._land(landing, batch),
        )


_Landed = TypeVar("_Landed")


def apply_batch(
    decoded: Decoded,
    number: int,
    options: ApplyOptions,
    *,
    check: Callable[[Decoded], None],
    land: Callable[[Decoded], _Landed],
) -> tuple[_Landed, TableCounts]:
    """Decide on a batch, land it, then merge it; a retry changes nothing.

    Everything is decided first. A change that cannot be applied, for whatever reason of its own, is
    a dead letter when the batch lands.

    Args:
        decoded: Decoded rows with effects; they are kept.
        number: Number of the batch.
        options: How changes are applied.
        check: Raises an error if the batch must not land.
        land: Writes the outputs of the batch.

    Returns:
        What `land` returns, and what became of the changes in tables.

    Raises:
        KeysMissingError: No change has a key, and none ever had.
        OutputError: A table has other columns.
        ConflictError: Other writers did not let a merge be done.
    """
    planned = _planned(numbered(decoded.rows), options)
    check(_landing(planned.batch, decoded))
    decided = planner.decide(_merges(planned))
    if decided.failures:
        planned = replace(planned, batch=planned.batch.without(decided.failures))
        check(_landing(planned.batch, decoded))
    landed = land(_landing(planned.batch, decoded))
    checkpoint = _SparkCheckpoint(decoded.rows.sparkSession, options.checkpoint, number)
    tables = planner.write(planned, decided, checkpoint)
    return landed, dict(sorted(tables.items()))


def _planned(rows: DataFrame, options: ApplyOptions) -> planner.BatchPlan[SparkBatch]:
    """Return where the changes of a batch go."""
    spark = rows.sparkSession
    for name, value in _SETTINGS.items():
        spark.conf.set(name, value)
    known = known_tables(spark, options.checkpoint)
    sources = sources_of(
        rows, with_truncates=options.apply_as_truncates, are_typed=options.types.are_typed
    )
    # A stream has it off for the sake of its state, of which a batch here has none; plans of
    # small batches take longer with it.
    spark.conf.set("spark.sql.adaptive.enabled", str(sources.changes >= MANY).lower())
    check_keys(sources, known)
    batch = SparkBatch(rows, rows, sources, options, {})
    return planner.plan(batch, sources, options.routing, known)


def _merges(planned: planner.BatchPlan[SparkBatch]) -> Iterator[SparkMerge]:
    """Yield what a batch does to each of its tables, which are created if they are not there.

    Raises:
        OutputError: A table has other columns.
    """
    batch, routes = planned.batch, planned.routes
    rows, options, changes = batch.rows, batch.options, batch.sources.changes
    spark = rows.sparkSession
    for target, plan in batch.tables.items():
        keys = routes.targets[target]
        effects = effects_of(rows, keys)
        namespaces = [namespace for added, namespace in routes.added if added == target]
        if namespaces:
            earlier = kept_deletes(spark, options.checkpoint, namespaces, effects.schema)
            effects = effects if earlier is None else effects.unionByName(earlier)
        if plan.has_changed and plan.shape is not None:
            options.tables.evolve(spark, target.name, plan.shape.columns)
        tables = tables_of(spark, target.name, plan.shape, options.tables)
        fitted = tables.shape.fitted(effects.drop("source"))
        yield SparkMerge(fitted, tables, _newest_truncate(rows, keys), changes)


def _newest_truncate(rows: DataFrame, keys: list[RouteKey]) -> Order:
    """Return the order of the newest truncate that comes from some sources."""
    truncates = [one for one in keys if one[1] == TRUNCATE]
    if not truncates:
        return OLDEST
    fields = F.struct("sequence", *position_columns())
    found = rows.where(is_from(truncates) & F.col("sequence").isNotNull())
    newest = found.agg(F.max(fields).alias("newest")).collect()[0]["newest"]
    if newest is None:
        return OLDEST
    sequence, *position = newest
    return Order((sequence["major"], sequence["minor"]), ChangePosition(*position))


def _landing(batch: SparkBatch, decoded: Decoded) -> Decoded:
    return Decoded(batch.landing.drop(ROW_ID), decoded.rows_as)


@dataclass(frozen=True)
class _SparkCheckpoint:
    """Keeps what later batches need; see `changewire.tables.planner.TableRegistry`.

    Attributes:
        spark: The session.
        folder: Folder of the checkpoint.
        number: Number of the batch.
    """

    spark: SparkSession
    folder: str
    number: int

    def keep_deletes(self, batch: SparkBatch) -> None:
        """Keep deletes that name no table, for tables to come."""
        to_all = [one for one in batch.sources.route_keys if goes_to_all(one[1], one[0])]
        if to_all:
            keep_deletes(self.folder, self.number, effects_of(batch.landing, to_all))

    def keep_tables(self, added: list[tuple[Target, Namespace]]) -> None:
        """Keep the tables that the batch was the first to feed."""
        keep_tables(self.spark, self.folder, self.number, added)
