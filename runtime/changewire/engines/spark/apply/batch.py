"""One batch: landed as every batch is, and merged into the tables that it feeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame

from changewire.engines.counts import Counts
from changewire.engines.effects import check_keys
from changewire.engines.kept import table_history
from changewire.engines.options import BatchId, MergeCounts
from changewire.engines.spark.apply.direct_batch import (
    DecidedMerges,
    EarlierTables,
    append_plain,
    merges_of,
)
from changewire.engines.spark.apply.failures import numbered
from changewire.engines.spark.apply.history.stream import Log, history_actions, log_of
from changewire.engines.spark.apply.known import SparkCheckpoint, kept_deletes, known_tables
from changewire.engines.spark.apply.large_batch import LargeBatch, large_batch
from changewire.engines.spark.apply.merge import SparkMerge
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.small_batch import (
    FEW,
    NotSmallError,
    SmallBatch,
    collected,
    small_batch,
)
from changewire.engines.spark.apply.tables import tables_of
from changewire.engines.spark.apply.tuning import (
    are_small,
    batch_settings,
    interpreted,
    limit_partitions,
    set_adaptive,
    side_by_side,
)
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.stream.batch import BatchWriter
from changewire.engines.spark.stream.direct import can_be_direct
from changewire.tables import planner


@dataclass(frozen=True)
class TablesWriter(BatchWriter[DecodedFrames]):
    """Writes the batches of a query that applies changes; what `foreachBatch` takes.

    Attributes:
        apply_options: How changes are applied.
        earlier: The tables of earlier batches; None where tasks do not report.
    """

    apply_options: ApplyOptions
    earlier: EarlierTables | None = None

    def _write_directly(
        self, decoded: DecodedFrames, batch: BatchId
    ) -> tuple[Counts, MergeCounts] | None:
        """Write and merge a batch of plain changes, of which nothing is kept; None for any other.

        Whether an element becomes a dead letter is known once it is decoded.
        """
        earlier, spark = self.earlier, decoded.rows.sparkSession
        if earlier is None or not self._can_be_direct(earlier) or not earlier.are_ready(spark):
            return None
        with batch_settings(spark):
            return self._merged_directly(decoded, batch, earlier)

    def _merged_directly(
        self, decoded: DecodedFrames, batch: BatchId, earlier: EarlierTables
    ) -> tuple[Counts, MergeCounts] | None:
        """Write and merge a batch if its changes are plain, as `_write_directly` does."""
        spark = decoded.rows.sparkSession
        set_adaptive(spark, 0)
        limit_partitions(spark, 0, earlier.tables.values())
        first, *others = self.outputs
        appended = append_plain(
            decoded,
            first,
            self.options.sink,
            batch,
            earlier=earlier,
            options=self.apply_options,
            meanwhile=lambda effects: planner.decide(
                merges_of(spark, effects, earlier), partial(side_by_side, spark)
            ),
        )
        if appended is None or any(found.made.failed for _, found in appended.made.merges):
            self._forget_counts(earlier)
            return None  # the changes may be in the log, which the batch does not change again
        decided = appended.made
        actions: list[planner.Action] = [
            partial(merge.write, found) for merge, found in decided.merges
        ]
        with ThreadPoolExecutor(1) as pool:
            land = inheritable_thread_target(spark)(self._land)
            landed = pool.submit(land, appended.rest, batch, others)
            tables = sum(side_by_side(spark, actions), Counter[str]())
        return landed.result(), _merge_counts(tables, decided)

    def _forget_counts(self, earlier: EarlierTables) -> None:
        """Count the batch and some after it first; forget what its tasks counted until now."""
        earlier.postpone()
        if self.native is not None:
            self.native.take()

    def _can_be_direct(self, earlier: EarlierTables) -> bool:
        """Whether batches may be written before they are counted."""
        return self.apply_options.history is None and can_be_direct(self.options, earlier.reports)

    def _write(self, decoded: DecodedFrames, batch: BatchId) -> tuple[Counts, MergeCounts]:
        """Write a batch, then merge it; a retry changes nothing."""
        with batch_settings(decoded.rows.sparkSession):
            return apply_batch(
                decoded,
                batch.number,
                self.apply_options,
                check=lambda landing: self._check(landing, batch),
                land=lambda landing: self._land(landing, batch, self.outputs),
                log=log_of(self.options),
                earlier=self.earlier,
            )


_Landed = TypeVar("_Landed")

_were_large: Final[set[str]] = set()
"""Checkpoints of queries whose last batch was large, so that the next one is not tried as a small
one: each partition would send some thousand rows for nothing."""

_SOME: Final = 2
_AT_ONCE: Final = 4
"""Tables that are written side by side: a small one leaves most of a machine to others."""


def apply_batch(
    decoded: DecodedFrames,
    number: int,
    options: ApplyOptions,
    *,
    check: Callable[[DecodedFrames], None],
    land: Callable[[DecodedFrames], _Landed],
    log: Log,
    earlier: EarlierTables | None = None,
) -> tuple[_Landed, MergeCounts]:
    """Decide on a batch, land it, then merge it; a retry changes nothing.

    Everything is decided first. A change that cannot be applied, for whatever reason of its own, is
    a dead letter when the batch lands. For use within `batch_settings`.

    Args:
        decoded: Decoded rows with effects; they are kept.
        number: Number of the batch.
        options: How changes are applied.
        check: Raises an error if the batch must not land.
        land: Writes the outputs of the batch.
        log: The change log, of which tables of versions are made that are not there.
        earlier: Remembers the tables of the batch.

    Returns:
        What `land` returns, and what became of the changes in tables.

    Raises:
        KeysMissingError: No change has a key, and none ever had.
        OutputError: A table has other columns.
        ConflictError: Other writers did not let a merge be done.
    """
    spark = decoded.rows.sparkSession
    side = partial(side_by_side, spark)
    planned, merges = _merges(numbered(decoded.rows), options)
    check(planned.batch.landed(decoded.rows_as))
    # What is decided on in tasks uses all of a machine, and changes settings of the session.
    is_small = isinstance(planned.batch, SmallBatch)
    are_few = is_small and are_small(spark, [merge.tables for merge in merges])
    with interpreted(spark, when=are_few):
        decided = planner.decide(merges, side if is_small else planner.one_by_one)
    if decided.failures:
        planned = replace(planned, batch=planned.batch.without(decided.failures))
        check(planned.batch.landed(decoded.rows_as))
    rows = planned.batch.landed(decoded.rows_as)
    landed = land(rows)
    versions: Counter[str] = Counter()
    if options.history is not None:
        # Before the tables: a batch that is retried finds new tables new again.
        actions = history_actions(rows, planned, options, log)
        versions = sum(side_by_side(spark, actions), versions)
    registry = SparkCheckpoint(spark, options.checkpoint, number)
    with interpreted(spark, when=are_few):
        tables = planner.write(planned, decided, registry, run=side)
    if earlier is not None:
        earlier.learn(planned, merges, decided)
    return landed, _merge_counts(tables, decided, versions)


def _merge_counts(
    tables: Counter[str], decided: DecidedMerges, versions: Counter[str] | None = None
) -> MergeCounts:
    """Return what a batch did in tables, in the order of names."""
    keys = sum((found.made.keys for _, found in decided.merges), Counter[str]())
    counts = (dict(sorted(one.items())) for one in (tables, keys, versions or Counter[str]()))
    return MergeCounts(*counts)


_Batch = LargeBatch | SmallBatch
_Planned = planner.BatchPlan[_Batch]


def _merges(rows: DataFrame, options: ApplyOptions) -> tuple[_Planned, list[SparkMerge]]:
    """Return where the changes of a batch go, and what they do to each table.

    The rows have effects and `ROW_ID`.
    """
    if options.checkpoint not in _were_large:
        set_adaptive(rows.sparkSession, 0)
        found = collected(rows, with_messages=options.rows == "embedded")
        if found is not None:
            try:
                return _planned(small_batch(rows, found, options))
            except NotSmallError:
                pass
    batch = large_batch(rows, options)
    (_were_large.add if batch.sources.changes > FEW else _were_large.discard)(options.checkpoint)
    return _planned(batch)


def _planned(batch: _Batch) -> tuple[_Planned, list[SparkMerge]]:
    """Return where the changes of a batch go, and what they do to each table.

    Raises:
        NotSmallError: The batch is no small one.
    """
    options, sources = batch.options, batch.sources
    spark = batch.landing.sparkSession
    known = known_tables(spark, options.checkpoint)
    set_adaptive(spark, sources.changes)
    check_keys(sources, known)
    planned = planner.plan(batch, sources, options.routing, known)
    merges = [*_table_merges(planned)]
    if options.history is None:  # the versions of a table's rows are more than the rows
        limit_partitions(spark, sources.changes, [merge.tables for merge in merges])
    return planned, merges


def _table_merges(planned: _Planned) -> Iterator[SparkMerge]:
    """Yield what a batch does to each of its tables; nothing is written yet.

    Raises:
        NotSmallError: The batch is no small one.
    """
    batch, routes = planned.batch, planned.routes
    options, spark = batch.options, batch.landing.sparkSession
    for target, plan in batch.tables.items():
        keys = routes.targets[target]
        namespaces = [namespace for added, namespace in routes.added if added == target]
        earlier = kept_deletes(spark, options.checkpoint, namespaces) if namespaces else None
        tables = tables_of(
            target.name,
            plan.shape,
            options.tables,
            has_changed=plan.has_changed,
            history=table_history(options.history, options.history_names, target),
        )
        effects = batch.effects(keys, tables.shape, earlier)
        yield SparkMerge(effects, tables, batch.newest_truncate(keys))
