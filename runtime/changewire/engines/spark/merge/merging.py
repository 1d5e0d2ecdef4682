"""One batch, merged into its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any, Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.errors import StreamError
from changewire.engines.known import KnownLog
from changewire.engines.layout import CHANGE, DEAD_LETTER
from changewire.engines.spark.merge.becomes import Becomes, becomes
from changewire.engines.spark.merge.befores import moved
from changewire.engines.spark.merge.from_log import feeds
from changewire.engines.spark.merge.held import Held
from changewire.engines.spark.merge.late import logged_deletes
from changewire.engines.spark.merge.mutations import (
    FAILURE,
    PLACE,
    mutations_of,
)
from changewire.engines.spark.merge.options import ApplyOptions
from changewire.engines.spark.merge.plan import TablePlan, There, is_from, plan
from changewire.engines.spark.merge.refusals import WHY, Refused, with_reasons
from changewire.engines.spark.merge.shapes import Shape
from changewire.engines.spark.merge.summary import BatchFacts, schemas_of
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.merge.tuning import limit_partitions
from changewire.engines.spark.parts import position_columns
from changewire.engines.spark.raised import RAISED
from changewire.engines.typed import plan as typed
from changewire.engines.typed.refused import LostTruncates, RefusedRows
from changewire.engines.typed.sources import BatchSources
from changewire.tables.names import Target, target_from, template_of
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import NAMES, REFUSALS, Refusal, RouteKey, Routes, find_routes

_LOST: Final = LostTruncates([], REFUSALS["truncate-without-sequence"])
_FATAL: Final[tuple[type[Exception], ...]] = (StreamError, MemoryError, *RAISED)
"""What ends a batch; whatever else planning a table raises refuses its changes."""

_MANY: Final = 20
"""Sources that are named in a condition; more are joined."""


@dataclass
class QueryTables:
    """The tables of a query.

    Attributes:
        query: Id of the query.
        options: How changes are applied.
        there: The tables that were looked at.
    """

    query: str
    options: ApplyOptions
    there: dict[Target, There | None] = field(default_factory=dict)

    def of(self, spark: SparkSession, target: Target) -> There | None:
        """Return a table; None if it does not exist.

        Raises:
            OwnerError: It belongs to another query.
        """
        if target not in self.there:
            table = SparkTable(target.name, self.options.format)
            self.there[target] = table.there(spark, self.query)
        return self.there[target]


@dataclass
class BatchMerge:
    """Merges one batch into its tables.

    Attributes:
        query: The tables of its query.
        known: What the log had before it.
        rows: Its rows, decoded and kept.
        facts: What is known of them.
        log: The log, which has these rows too.
        partitions: How many partitions shuffles may have.
        counts: What was done.
        refused: Why changes are refused.
    """

    query: QueryTables
    known: KnownLog
    rows: DataFrame
    facts: BatchFacts
    log: DataFrame
    partitions: int
    counts: Counter[str] = field(default_factory=Counter)
    refused: Refused = field(default_factory=Refused)

    @property
    def options(self) -> ApplyOptions:
        """How changes are applied."""
        return self.query.options

    @property
    def spark(self) -> SparkSession:
        """The session of the batch."""
        return self.rows.sparkSession

    def tables(self) -> None:
        """Merge the batch into each of its tables."""
        sources = self.facts.sources
        self.counts += Counter(
            key_missing=sources.key_missing, sequence_inherited=self.facts.inherited
        )
        routes = find_routes(sources.route_keys, self.options.routing, self.known.tables)
        self._refuse_routes(routes)
        if "embedded" in self.options.rows.values():
            sources = self._with_schemas()
        plans, refusals = typed.plans(
            routes,
            lambda target, keys: plan(
                target, keys, sources, self.options, self.query.of(self.spark, target)
            ),
            _FATAL,
        )
        self.refused.by_rows += refusals
        accepted = self._accepted()
        befores = self._moved(accepted)
        deleted = self.known.deleted(plans)
        for target, one in plans.items():
            if one.shape is not None:
                keys = routes.targets[target]
                self._table(target, one, one.shape, keys, accepted, befores, deleted.get(target))

    def _refuse_routes(self, routes: Routes) -> None:
        by_reason: dict[Refusal, list[RouteKey]] = {}
        for key, why in routes.refused.items():
            by_reason.setdefault(why, []).append(key)
        if len(routes.refused) > _MANY:
            self.rows = with_reasons(self.rows, by_reason)
            self.refused.are_marked = True
        else:
            self.refused.by_rows += [RefusedRows(keys, why) for why, keys in by_reason.items()]
        if self.options.apply_as_truncates:
            self.refused.by_rows.append(_LOST)

    def _with_schemas(self) -> BatchSources:
        sources = self.facts.sources
        return replace(sources, schemas=schemas_of(self.rows, {*sources.route_keys}))

    def _accepted(self) -> DataFrame:
        """Return the rows of the batch that are not refused by a condition."""
        if not self.refused.by_rows and not self.refused.are_marked:
            return self.rows
        return self.rows.where(self.refused.reason().isNull())

    def _moved(self, rows: DataFrame) -> DataFrame | None:
        """Return which keys updates left whose images came as two messages."""
        has_some = any(one.has_befores for one in self.facts.facts.values())
        if not has_some and not self.known.has_befores:
            return None
        found = moved(rows, self.log)
        self.counts["waiting_before_images"] += found.waiting
        return found.deletes

    def _table(  # noqa: PLR0917 - the parts of one table
        self,
        target: Target,
        planned: TablePlan,
        shape: Shape,
        keys: list[RouteKey],
        rows: DataFrame,
        befores: DataFrame | None,
        deleted: int | None,
    ) -> None:
        """Merge a batch into one table."""
        options = self.options
        table = SparkTable(target.name, options.format)
        there = self.query.there[target]
        self.query.there[target] = table.make(
            self.spark, shape, self.query.query, there, has_changed=planned.has_changed
        )
        if options.view is not None and (there is None or planned.has_changed):
            table.view(self.spark, view_of(options.view, target), shape)
        limit_partitions(self.spark, self.facts.counts.changes, table, self.partitions)
        truncate = max((self.facts.facts[key].truncated for key in keys), default=OLDEST)
        floor = max(self.known.truncated(target), truncate)
        if truncate > OLDEST and there is not None:
            self.counts["deleted"] += table.truncate(self.spark, floor) or 0
        mine = None if befores is None else befores.where(is_of(keys))
        are_known = not self.facts.unfitted
        found = mutations_of(rows.where(is_from(keys)), shape, mine, are_known=are_known)
        needs_fit = shape.is_typed and not are_known
        has_patches = there is not None and self.known.has_patches(target)
        is_truncated = there is not None and truncate > OLDEST
        has_hard = bool(self.facts.hard) or is_truncated or has_patches
        held = self._held(table, shape, target, keys, deleted, floor)
        if not needs_fit and not has_hard:
            self._merge(table, shape, becomes(found, shape, held, has_hard=False))
            return
        with persisted(found) as kept:
            fitting = self._fitting(kept) if needs_fit else kept
            self._merge(table, shape, becomes(fitting, shape, held, has_hard=has_hard))

    def _held(  # noqa: PLR0917 - the parts of one table
        self,
        table: SparkTable,
        shape: Shape,
        target: Target,
        keys: list[RouteKey],
        deleted: int | None,
        floor: Order,
    ) -> Held:
        """Return what is known of a table that the batch may need."""
        rows, has_patches = self.spark.table(table.identifier), self.known.has_patches(target)
        least = self.facts.least_of(keys)
        if self.options.keeps_deleted or deleted is None:
            return Held(rows, floor=floor, has_patches=has_patches)
        if not self.facts.inherited and (least is None or least > deleted):
            return Held(rows, floor=floor, has_patches=has_patches)
        is_of_table = feeds(self.options.routing, target, self.known.namespaces(target))
        deletes = logged_deletes(
            self.log,
            is_of_table,
            shape,
            None if self.facts.inherited else least,
            with_befores=self.known.has_befores,
        )
        return Held(rows, deletes, deleted, floor, has_patches)

    def _merge(self, table: SparkTable, shape: Shape, found: Becomes) -> None:
        keeps_deleted = self.options.keeps_deleted
        if found.hard is None:
            self.counts += table.merge(found.easy, shape, keeps_deleted=keeps_deleted)
            return
        with persisted(found.hard) as kept:
            failed = kept.where(F.col(FAILURE).isNotNull())
            if not failed.isEmpty():
                self.refused.by_place.append(failed.select(*PLACE, FAILURE).localCheckpoint())
            good = kept.where(F.col(FAILURE).isNull())
            good = good.withColumn("decided", F.lit(True))  # noqa: FBT003 - a column of this value
            rows = found.easy.unionByName(good.select(*found.easy.columns))
            self.counts += table.merge(rows, shape, keeps_deleted=keeps_deleted)

    def _fitting(self, found: DataFrame) -> DataFrame:
        """Return the mutations whose changes fit the table; the others are refused."""
        failed = found.where(F.col(FAILURE).isNotNull())
        if failed.isEmpty():
            return found
        places = failed.groupBy(*PLACE).agg(F.min(FAILURE).alias(FAILURE)).localCheckpoint()
        self.refused.by_place.append(places)
        return found.join(F.broadcast(places.select(*PLACE)), [*PLACE], "left_anti")

    def refused_changes(self) -> DataFrame | None:
        """Return the rows of the changes that no table takes, each with `WHY`; None without any."""
        refused = self.refused
        if not refused.by_rows and not refused.by_place and not refused.are_marked:
            return None
        found = self.rows.where(F.col("kind") != DEAD_LETTER).withColumn(WHY, refused.reason())
        found = found.where(F.col(WHY).isNotNull())
        if refused.by_place:
            places = reduce(DataFrame.unionByName, refused.by_place)
            first = places.groupBy(*PLACE).agg(F.min(FAILURE).alias(WHY))
            place = F.struct(*position_columns()).alias("_place")
            named = self.rows.where(F.col("kind") == CHANGE).select("*", place)
            first = first.select(F.struct(*PLACE).alias("_place"), WHY)
            found = found.unionByName(named.join(F.broadcast(first), "_place").drop("_place"))
        number = found.count()
        self.counts["refused"] += number
        return found if number else None


def view_of(view: str, target: Target) -> str:
    """Return the name of the view of a table."""
    return target_from(template_of(view), target.origin).name


def is_of(keys: list[RouteKey]) -> Any:
    """Return the condition that a row has one of some sources, whatever it does."""
    source = F.col("source")
    conditions = []
    for one in {key[0] for key in keys}:
        parts = [source[name].eqNullSafe(getattr(one, name)) for name in NAMES]
        conditions.append(reduce(lambda a, b: a & b, parts))
    return reduce(or_, conditions, F.lit(False))  # noqa: FBT003 - a column of this value


@contextmanager
def persisted(rows: DataFrame) -> Generator[DataFrame, None, None]:
    """Keep rows meanwhile; they are computed once."""
    kept = rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()
