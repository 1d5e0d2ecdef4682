"""One batch, merged into its tables."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.applied import not_applied
from changewire.engines.by_table import TableChanges
from changewire.engines.errors import StreamError
from changewire.engines.known import KnownLog
from changewire.engines.layout import CHANGE, DEAD_LETTER
from changewire.engines.spark.cause import full_text
from changewire.engines.spark.frames import persisted
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.merge.becomes import becomes, rows_with_key
from changewire.engines.spark.merge.befores import moved
from changewire.engines.spark.merge.facts import BatchFacts, RowText, carried_of
from changewire.engines.spark.merge.from_log import feeds, is_truncate
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.late import Held, logged_deletes
from changewire.engines.spark.merge.mutations import FAILURE, PLACE, mutations_of
from changewire.engines.spark.merge.options import ApplyOptions
from changewire.engines.spark.merge.part import QueryTables, TablePart, view_of
from changewire.engines.spark.merge.plan import There, is_from, is_of, is_refused, plan
from changewire.engines.spark.merge.refusals import (
    WHY,
    Refused,
    refused_by_route,
    with_reasons,
)
from changewire.engines.spark.merge.shapes import Shape
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.merge.tally import Tally
from changewire.engines.spark.merge.tuning import limit_partitions
from changewire.engines.spark.merge.violations import spoiling, violations
from changewire.engines.spark.parts import position_columns
from changewire.engines.spark.session import is_remote
from changewire.engines.typed.plan import BatchSources, TablePlan, plans
from changewire.tables.mutations import DELETE, FULL
from changewire.tables.names import Target
from changewire.tables.order import OLDEST
from changewire.tables.routing import REFUSALS, WRITE, RouteKey, Routes, find_routes

_FATAL: Final[tuple[type[Exception], ...]] = (StreamError, MemoryError, *RAISED)
"""What ends a batch; whatever else planning a table raises refuses its changes."""

_VIOLATED: Final = re.compile(
    "DELTA_VIOLATE_CONSTRAINT|DELTA_NOT_NULL_CONSTRAINT|DELTA_EXCEED_CHAR_VARCHAR"
    "|NOT_NULL_ASSERT_VIOLATION"
)
"""What the text of an error has if a row violates a constraint."""

_ROUNDS: Final = 8
"""How often changes of hard keys are decided on, each time without the first that a table refuses;
at the last time all that follow it are refused."""


class _How(NamedTuple):
    """How mutations of a table become rows; see `becomes`."""

    there: There
    held: Held
    has_moved: bool
    has_hard: bool
    text: RowText


@dataclass
class BatchMerge:
    """Merges one batch into its tables.

    Attributes:
        query: The tables of its query.
        known: The content of the log before it.
        rows: Its rows, decoded and kept.
        facts: What is known of them.
        log: The log, which has these rows too.
        partitions: How many partitions shuffles may have.
        tally: What was done, in numbers.
        refused: Why changes are refused.
    """

    query: QueryTables
    known: KnownLog
    rows: DataFrame
    facts: BatchFacts
    log: DataFrame
    partitions: int
    tally: Tally = field(default_factory=Tally)
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
        self.tally.add_changes(self.facts.changes)
        self.tally.counts += Counter(
            key_missing=sources.key_missing, sequence_inherited=self.facts.inherited
        )
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
            columns = carried_of(self.rows, {*sources.route_keys})
            sources = replace(sources, columns=columns)
        found, refusals = plans(
            routes,
            partial(self._plan, sources),
            _FATAL,
        )
        self.refused.by_rows += [(is_refused(one), one.why) for one in refusals]
        accepted = self._accepted()
        befores = self._moved(accepted)
        flagged = {target for target, one in found.items() if one.settings.keeps_deleted}
        deleted = self.known.deleted(found, flagged)
        for target, one in found.items():
            if one.shape is not None:
                part = self._part(
                    *(target, one.shape, routes.targets[target], deleted.get(target)),
                    keeps_deleted=one.settings.keeps_deleted,
                )
                there = self._prepare(part, one)
                try:
                    self._merge(part, there, accepted, befores)
                except RAISED as error:
                    self._merge(part, self._constrained(part, there, error), accepted, befores)

    def _plan(
        self, sources: BatchSources, target: Target, keys: list[RouteKey]
    ) -> TablePlan[Shape]:
        """Return how a table has its rows after the batch."""
        settings = self.options.settings_of(self.known.names(target, keys))
        there = self.query.of(self.spark, target, settings)
        return plan(target, keys, sources, self.options, settings, there)

    def _refuse_routes(self, routes: Routes) -> None:
        if routes.refused:
            self.rows = with_reasons(self.rows, routes.refused)
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

    def _part(
        self,
        target: Target,
        shape: Shape,
        keys: list[RouteKey],
        deleted: int | None,
        *,
        keeps_deleted: bool,
    ) -> TablePart:
        truncate = max((self.facts.facts[key].truncated for key in keys), default=OLDEST)
        return TablePart(
            table=SparkTable(target.name, self.options.format),
            target=target,
            shape=shape,
            keys=keys,
            deleted=deleted,
            truncate=truncate,
            floor=max(self.known.truncated(target), truncate),
            is_new=self.query.there[target] is None,
            keeps_deleted=keeps_deleted,
        )

    def _prepare(self, part: TablePart, found: TablePlan[Shape]) -> There:
        """Make a table or give it new columns, and remove the rows that a truncate removes."""
        has_changed = found.has_changed
        there, query, options = self.query.there, self.query.query, self.options
        made = there[part.target] = part.table.make(
            *(self.spark, part.shape, query, there[part.target]),
            named=found.named,
            has_changed=has_changed,
            source=self.known.tables.sources.get(part.target),
            settings=found.settings,
        )
        view = options.tables.view if part.keeps_deleted else None
        if view is not None and (part.is_new or has_changed):
            part.table.view(self.spark, view_of(view, part.target), part.shape)
        limit_partitions(self.spark, self.facts.sources.changes, part.table, self.partitions)
        if part.is_truncated:
            self.tally.counts["truncated"] += part.table.truncate(self.spark, part.floor) or 0
        return made

    def _constrained(self, part: TablePart, there: There, error: Exception) -> There:
        """Return a table that has got a constraint since it was looked at, which a row violates.

        Any other error is raised again.
        """
        again = part.table.read(self.spark) if _VIOLATED.search(full_text(error)) else None
        if again is None or again.constraints == there.constraints:
            raise error
        self.query.there[part.target] = again
        return again

    def _merge(
        self, part: TablePart, there: There, rows: DataFrame, befores: DataFrame | None
    ) -> None:
        """Merge a batch into one table."""
        has_befores = any(self.facts.facts[key].has_befores for key in part.keys)
        moved = None
        if befores is not None and (has_befores or self.known.has_befores_of(part.target)):
            moved = befores.where(is_of(part.keys))
        mine, has_moves = rows.where(is_from(part.keys)), bool(self.facts.moves)
        misfits = None if is_remote(self.spark) else self.spark.sparkContext.accumulator(0)
        found = mutations_of(mine, part.shape, moved, has_moves=has_moves, misfits=misfits)
        held = self._held(part)
        needs_fit = part.shape.is_typed
        has_patches = held.has_patches and not part.is_new
        has_hard = bool(self.facts.hard) or part.is_truncated or has_patches
        how = _How(there, held, moved is not None, has_hard, self.facts.text_of(part.keys))
        asks = there.constraints.are_any
        if has_hard or asks or (needs_fit and (has_moves or moved is not None)):
            with persisted(found) as kept:
                fitting = self._fitting(part, kept, how) if needs_fit else kept
                self._write(part, self._allowed(part, fitting, how) if asks else fitting, how)
            return
        # Each change is on one row, so what does not fit is left out, and looked for afterwards.
        fitting = found.where(F.col(FAILURE).isNull()) if needs_fit else found
        self._write(part, fitting, how)
        if needs_fit and (misfits is None or misfits.value):
            with persisted(found) as kept:
                self._fitting(part, kept, how)

    def _held(self, part: TablePart) -> Held:
        """Return what is known of a table that the batch may need."""
        rows = self.spark.table(part.table.identifier)
        has_patches, floor = self.known.has_patches(part.target), part.floor
        least, deleted = self.facts.least_of(part.keys), part.deleted
        bounds = None
        if deleted is not None and not self.facts.inherited:
            if least is None or least > deleted:
                deleted = None
            else:
                bounds = least, deleted
        if deleted is None:
            return Held(rows, floor=floor, has_patches=has_patches)
        is_of_table = feeds(self.options.routing, part.target, self.known)
        deletes = logged_deletes(
            self.log,
            is_of_table,
            part.shape,
            bounds,
            with_befores=self.known.has_befores_of(part.target),
        )
        return Held(rows, deletes, deleted, floor, has_patches)

    def _write(self, part: TablePart, found: DataFrame, how: _How, round: int = 1) -> None:
        """Merge what rows become; what hard keys cannot become is refused."""
        spoilt, asks = None, how.there.constraints.are_any
        rows = becomes(
            found, part.shape, how.held, has_hard=how.has_hard, text=how.text, with_steps=asks
        )
        if rows.hard is None:
            self._merged(part, rows.easy, how.there)
            return
        with persisted(rows.hard) as kept:
            failed = kept.where(F.col(FAILURE).isNotNull()).select(*PLACE, FAILURE)
            ((number, failures, states),) = kept.agg(*map(F.count, ("*", FAILURE, STATE))).collect()
            if failures:
                self.refused.by_place.append(failed.localCheckpoint())
            good = kept.where(F.col(STATE).isNotNull())
            if asks:
                steps = good.where(F.col(PLACE[0]).isNotNull())
                if not part.keeps_deleted:
                    steps = steps.where(~F.col(STATE)["deleted"])
                wrong = violations(steps, part.shape, how.there, how.held.table, are_whole=False)
                spoilt = self._refused(spoiling(steps, wrong, are_all=round == _ROUNDS))
                good = good.where(F.col(PLACE[0]).isNull())
            if spoilt is None:
                good = good.withColumn("decided", F.lit(True))  # noqa: FBT003 - a column of this value
                every = rows.easy.unionByName(good.select(*rows.easy.columns))
                self._merged(part, every, how.there, unchanged=number - failures - states)
                return
        self._write(part, _without(found, spoilt, how), how, round + 1)

    def _merged(
        self, part: TablePart, rows: DataFrame, there: There, *, unchanged: int = 0
    ) -> None:
        done = part.table.merge(rows, part.shape, there, keeps_deleted=part.keeps_deleted)
        if done.asked is not None:
            done = done._replace(asked=done.asked + unchanged)
        self.tally.add_merged(part, done)

    def _fitting(self, part: TablePart, found: DataFrame, how: _How) -> DataFrame:
        """Return the mutations whose changes fit the table; the others are refused."""
        if not self.tally.add_fitted(part, found):
            return found
        return _without(found, self._refused(found.where(F.col(FAILURE).isNotNull())), how)

    def _allowed(self, part: TablePart, found: DataFrame, how: _How) -> DataFrame:
        """Return the mutations without those of whole rows that the table does not allow.

        They are refused before the newest of each key is chosen: so the table has the newest that
        it can take, in whatever batches they come.
        """
        kinds = (FULL, DELETE) if part.keeps_deleted else (FULL,)
        rows = found.where(F.col("kind").isin(*kinds))
        rows = rows if part.shape.is_typed else rows_with_key(rows, how.text)
        wrong = violations(rows, part.shape, how.there, how.held.table, are_whole=True)
        return _without(found, self._refused(wrong), how)

    def _refused(self, failed: DataFrame) -> DataFrame | None:
        """Refuse changes, by their positions and `FAILURE`; return the positions, if any."""
        places = failed.groupBy(*PLACE).agg(F.min(FAILURE).alias(FAILURE)).localCheckpoint()
        if places.isEmpty():
            return None
        self.refused.by_place.append(places)
        return places

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


def _without(found: DataFrame, places: DataFrame | None, how: _How) -> DataFrame:
    """Return mutations without those at some positions.

    A row whose new place is refused stays where it was, also if its images came as two messages.
    """
    if places is None:
        return found
    refused = F.broadcast(places.select(*PLACE))
    left = found.join(refused, [*PLACE], "left_anti")
    if not how.has_moved:
        return left
    writes = found.where(F.col("kind") != DELETE).join(refused, [*PLACE], "left_semi")
    stay = writes.select(
        "major", F.lit(0).cast("bigint").alias("minor"), F.lit(DELETE).alias("kind")
    )
    return left.join(stay, ["major", "minor", "kind"], "left_anti")
