"""One batch, merged into its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.applied import not_applied, owned_by
from changewire.engines.by_table import TableChanges
from changewire.engines.errors import StreamError
from changewire.engines.layout import CHANGE, DEAD_LETTER
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.merge.at_once import merge_parts
from changewire.engines.spark.merge.befores import moved
from changewire.engines.spark.merge.carried import columns_of_keys
from changewire.engines.spark.merge.formats import cluster_fault
from changewire.engines.spark.merge.from_log import is_truncate
from changewire.engines.spark.merge.mutations import FAILURE, PLACE
from changewire.engines.spark.merge.options import ApplyOptions
from changewire.engines.spark.merge.part import TablePart, Tally, view_of
from changewire.engines.spark.merge.part_merge import Batch
from changewire.engines.spark.merge.plan import There, is_refused, plan
from changewire.engines.spark.merge.refusals import (
    WHY,
    Refused,
    refused_by_route,
    with_reasons,
)
from changewire.engines.spark.merge.shapes import Shape
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.parts import position_columns
from changewire.engines.typed.plan import RefusedRows, TablePlan, layout_refusal, plans, unusable
from changewire.engines.typed.sources import BatchSources
from changewire.tables.names import Target
from changewire.tables.order import OLDEST
from changewire.tables.routing import REFUSALS, WRITE, RouteKey, Routes, find_routes

_FATAL: Final[tuple[type[Exception], ...]] = (StreamError, MemoryError, *RAISED)
"""What ends a batch; whatever else planning a table raises refuses its changes."""


@dataclass
class BatchMerge(Batch):
    """Merges one batch into its tables.

    Attributes:
        tally: What was done, in numbers.
        refused: Why changes are refused.
    """

    tally: Tally = field(default_factory=Tally)
    refused: Refused = field(default_factory=Refused)

    @property
    def options(self) -> ApplyOptions:
        """How changes are applied."""
        return self.query.options

    def tables(self) -> None:
        """Merge the batch into each of its tables."""
        sources = self.facts.sources
        self.tally.add_changes(self.facts.changes)
        keyless = sum(one.key_missing for one in self.facts.changes.values())
        self.tally.counts += Counter(key_missing=keyless, sequence_inherited=self.facts.inherited)
        with_truncates = self.options.tables.apply_truncates
        self.tally.counts += not_applied(self.facts.operations, with_truncates=with_truncates)
        routes = find_routes(
            sources.route_keys,
            self.options.routing,
            self.known.tables,
            lambda one: SparkTable(one.name, self.options.format).source(self.spark),
        )
        self._refuse_routes(routes)
        if self.options.are_auto:
            columns = self.query.columns.of(self.rows, self.facts)
            of_keys = partial(columns_of_keys, self.rows, self.facts)
            sources = replace(sources, columns=columns, of_keys=of_keys)
        found, refusals = plans(routes, partial(self._plan, sources), _FATAL)
        self._refuse(refusals)
        accepted = self._accepted()
        batch = Batch(
            *(self.query, self.known, accepted, self.facts, self.log, self.partitions),
            befores=self._moved(accepted),
        )
        for done in merge_parts(batch, self._parts(found, routes)):
            self.tally.add(done.tally)
            self.refused.by_place += done.refused

    def _parts(
        self, found: Mapping[Target, TablePlan[Shape]], routes: Routes
    ) -> list[tuple[TablePart, There]]:
        """Return the part of each table, which is made, or gets new columns."""
        flagged = {target for target, one in found.items() if one.settings.keeps_deleted}
        deleted = self.known.deleted(found, flagged)
        parts = []
        for target, one in found.items():
            if one.shape is None:
                continue
            keys = routes.targets[target]
            truncate = max((self.facts.facts[key].truncated for key in keys), default=OLDEST)
            part = TablePart(
                table=SparkTable(target.name, self.options.format),
                target=target,
                shape=one.shape,
                keys=keys,
                deleted=deleted.get(target),
                truncate=truncate,
                floor=max(self.known.truncated(target), truncate),
                is_new=self.query.there[target] is None,
                keeps_deleted=one.settings.keeps_deleted,
            )
            try:
                parts.append((part, self._made(part, one)))
            except AnalysisException as error:
                if (fault := cluster_fault(error)) is None:
                    raise
                self._refuse(unusable(keys, layout_refusal(fault)).refusals)
        return parts

    def _plan(
        self, sources: BatchSources, target: Target, keys: list[RouteKey]
    ) -> TablePlan[Shape]:
        """Return how a table has its rows after the batch."""
        settings = self.options.settings_of(self.known.names(target, keys))
        there = self.query.of(self.spark, target, settings)
        return plan(target, keys, sources, self.options, settings, there)

    def _refuse(self, refusals: Iterable[RefusedRows]) -> None:
        self.refused.by_rows += [(is_refused(one), one.why) for one in refusals]

    def _refuse_routes(self, routes: Routes) -> None:
        if routes.refused:
            self.rows: DataFrame = with_reasons(self.rows, routes.refused)
            self.refused.are_marked = True
        if self.options.tables.apply_truncates and self.facts.operations["truncate"]:
            is_lost = is_truncate() & F.col("sequence").isNull()
            self.refused.by_rows.append((is_lost, REFUSALS["truncate-without-sequence"]))

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
        self.tally.counts["waiting_before_images"] += found.waiting
        left = {source: TableChanges(moved=number) for source, number in found.numbers.items()}
        self.tally.add_changes({(source, WRITE): one for source, one in left.items()})
        return found.deletes

    def _made(self, part: TablePart, found: TablePlan[Shape]) -> There:
        """Make a table, or give it new columns."""
        there, source = self.query.there, self.known.tables.sources.get(part.target)
        made = there[part.target] = part.table.make(
            *(self.spark, part.shape, found, there[part.target]),
            owned=owned_by(self.query.query, part.shape.keys, source),
        )
        view = self.options.tables.view if part.keeps_deleted else None
        if view is not None and (part.is_new or found.has_changed):
            part.table.view(self.spark, view_of(view, part.target), part.shape)
        return made

    def refused_changes(self) -> DataFrame | None:
        """Return the rows of the refused changes, each with `WHY`; None without any."""
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
        refusals = refused_by_route(found)
        number = sum(one.refused for one in refusals.values())
        self.tally.add_changes(refusals)
        self.tally.counts["refused"] += number
        return found if number else None
