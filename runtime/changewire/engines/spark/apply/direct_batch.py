"""Batches of plain changes: appended by the job that decodes them, and merged by the driver.

Nothing of such a batch is kept in Spark, and nothing of it is counted first. Its changes go to
tables that an earlier batch fed, and that nothing else has written since. If a task finds a change
that is not plain, nothing is written, and the batch is counted first, as all others are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from changewire.engines.options import BatchId
from changewire.engines.spark.apply.large_batch import LargeBatch
from changewire.engines.spark.apply.merge import SparkDecisions, SparkMerge
from changewire.engines.spark.apply.newest import in_position
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.plain import (
    WANTED,
    EffectReports,
    NotPlainError,
    Wanted,
    effects_in,
)
from changewire.engines.spark.apply.reported import ReportedEffects
from changewire.engines.spark.apply.small_batch import SmallBatch
from changewire.engines.spark.apply.states import known_state
from changewire.engines.spark.apply.tables import SparkTables
from changewire.engines.spark.cause import full_text
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.raised import RAISED
from changewire.engines.spark.stream.direct import Appended, append_directly
from changewire.engines.spark.stream.output import Output
from changewire.tables import planner
from changewire.tables.mutations import DELETE
from changewire.tables.names import Target
from changewire.tables.routing import WRITE, RouteKey

T = TypeVar("T")

DecidedMerges: TypeAlias = "planner.DecidedMerges[SparkDecisions, Any]"
"""What a batch does to its tables, and what was decided."""

MOST_OF_BATCH: Final = 2**26
"""Bytes of effects that the driver takes at most."""

_MOST_ROUTES: Final = 200
"""Sources that are sent to each task at most."""

_LONGEST_DELAY: Final = 64
"""Batches that are counted first at most, before the next one is tried."""


@dataclass
class EarlierTables:
    """Tables that a query fed, into which the next batch may be merged without a count.

    Attributes:
        reports: What tasks report.
        tables: The tables, by their targets.
        routes: The target of each source.
        to_wait: Batches that are counted first, before the next one is tried.
        delay: How many these were the last time.
    """

    reports: EffectReports
    tables: dict[Target, SparkTables] = field(default_factory=dict)
    routes: dict[RouteKey, Target] = field(default_factory=dict)
    to_wait: int = 0
    delay: int = 0

    def learn(
        self,
        planned: planner.BatchPlan[LargeBatch | SmallBatch],
        merges: Iterable[SparkMerge],
        decided: DecidedMerges,
    ) -> None:
        """Remember the tables of a batch that was counted first.

        If it has changes that are not plain, forget all tables.

        Args:
            planned: The batch.
            merges: What it does to each table.
            decided: What was decided on that.
        """
        self.to_wait = max(0, self.to_wait - 1)
        self.reports.are_whole = True  # `postpone` says when reports are tried again
        if not _is_plain(planned, decided):
            self.tables.clear()
            self.routes.clear()
            return
        made = {merge.tables.target: merge.tables for merge in merges}
        for target, routes in planned.routes.targets.items():
            tables = made[target.name]
            if tables.table is not None:
                self.tables[target] = replace(tables, has_changed=False)
                sources = [source for source, _ in routes if source.table is not None]
                both = ((source, op) for source in sources for op in (WRITE, DELETE))
                self.routes.update(dict.fromkeys(both, target))

    def postpone(self) -> None:
        """Count this batch first, and then twice as many as the last time."""
        self.reports.clear()
        self.delay = min(_LONGEST_DELAY, max(1, 2 * self.delay))
        self.to_wait = self.delay + 1

    def are_ready(self, spark: SparkSession) -> bool:
        """Whether the next batch may be merged without a count.

        Tables that are not as this process left them are forgotten.
        """
        if self.to_wait or not self.routes or len(self.routes) > _MOST_ROUTES:
            return False
        tables = self.tables.items()
        self.tables = {one: found for one, found in tables if _is_unchanged(spark, found)}
        self.routes = {one: target for one, target in self.routes.items() if target in self.tables}
        return bool(self.routes)

    def wanted(self, options: ApplyOptions, partitions: int) -> Wanted:
        """Return what tasks report."""
        keys = [
            sorted(self.tables[target].shape.keys) if options.are_typed else []
            for target in self.routes.values()
        ]
        most = MOST_OF_BATCH // max(1, partitions)
        return Wanted(self.reports.id, [*self.routes], keys, options.apply_as_truncates, most)


def _is_plain(planned: planner.BatchPlan[LargeBatch | SmallBatch], decided: DecidedMerges) -> bool:
    """Whether all changes of a batch that was counted first were applied, and are plain."""
    batch = planned.batch
    refusals = any(plan.refusals for plan in batch.tables.values())
    is_typed = batch.options.are_typed
    is_fitted = not (is_typed and isinstance(batch, LargeBatch) and batch.unfitted)
    are_used = not +planned.counts
    return is_fitted and are_used and not (refusals or planned.routes.refused or decided.failures)


def _is_unchanged(spark: SparkSession, tables: SparkTables) -> bool:
    """Whether a table is as this process left it."""
    known = known_state(tables.id)
    if known is None or known.columns != tables.columns or tables.table is None:
        return False
    try:
        return bool(tables.format.version(spark, tables.table) == known.versions[tables.table])
    except RAISED:  # such as a table that was dropped
        return False


@contextmanager
def _wanted_by_tasks(spark: SparkSession, wanted: Wanted) -> Generator[None, None, None]:
    """Let the tasks of jobs that start meanwhile report effects."""
    context = spark.sparkContext
    context.setLocalProperty(WANTED, msgspec.json.encode(wanted).decode())
    try:
        yield
    finally:
        context.setLocalProperty(WANTED, None)  # type: ignore[arg-type]


def append_plain(
    decoded: DecodedFrames,
    output: Output,
    sink: str,
    batch: BatchId,
    *,
    earlier: EarlierTables,
    options: ApplyOptions,
    meanwhile: Callable[[tuple[bytes, ...]], T],
) -> Appended[T] | None:
    """Append the changes of a batch if all are plain; None if it must be counted first.

    Args:
        decoded: Its rows, with effects, which are not kept.
        output: The output of the changes.
        sink: Format of the output.
        batch: Its id.
        earlier: The tables that changes may go to.
        options: How changes are applied.
        meanwhile: As `append_directly` takes it.
    """
    spark = decoded.rows.sparkSession
    wanted = earlier.wanted(options, decoded.rows.rdd.getNumPartitions())
    try:
        with _wanted_by_tasks(spark, wanted):
            found = append_directly(
                decoded, output, sink, batch, earlier.reports, meanwhile=meanwhile
            )
    except RAISED as error:
        if NotPlainError.__name__ not in full_text(error):
            raise
        found = None
    if found is not None:
        earlier.delay = 0
    return found


def merges_of(
    spark: SparkSession, streams: Iterable[bytes], earlier: EarlierTables
) -> list[SparkMerge]:
    """Return what the effects that tasks reported do to each table."""
    effects = effects_in(streams)
    if effects is None:
        return []
    effects = in_position(effects)
    numbers: dict[Target, list[int]] = {}
    for number, target in enumerate(earlier.routes.values()):
        numbers.setdefault(target, []).append(number)
    found = []
    for target, routes in numbers.items():
        rows = effects.filter(pc.is_in(effects["route"], pa.array(routes, pa.int32())))
        if len(rows):
            found.append(SparkMerge(ReportedEffects(spark, rows), earlier.tables[target]))
    return found
