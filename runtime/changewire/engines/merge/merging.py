"""One batch, merged into its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.applied import not_applied
from changewire.engines.by_table import (
    Applied,
    ChangesByTable,
    MergedRows,
    TableChanges,
    changes_by_table,
)
from changewire.engines.changelog.shapes import Shape
from changewire.engines.errors import StreamError
from changewire.engines.known import KnownLog
from changewire.engines.layout import CHANGE
from changewire.engines.merge.becomes import Floors
from changewire.engines.merge.delta import UnwritableError
from changewire.engines.merge.facts import (
    Facts,
    applied_names,
    changes_in,
    chosen_rows,
    facts_of,
    source_of,
)
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.look import Deletes, moved
from changewire.engines.merge.mutations import mutations_of
from changewire.engines.merge.options import LocalOptions
from changewire.engines.merge.plan import DeltaRsRules, refused_in, sources_of
from changewire.engines.merge.rows import MergedTable, TableMerge
from changewire.engines.merge.table import there
from changewire.engines.retries import WriteConflictError, retried
from changewire.engines.typed.plan import TablePlan, plans, table_plan, unusable
from changewire.engines.typed.sources import BatchSources
from changewire.engines.typed.there import TableThere
from changewire.tables.names import Target
from changewire.tables.order import OLDEST
from changewire.tables.routing import WRITE, Refusal, RouteKey, find_routes, goes_to_all

_FATAL: Final = (StreamError, WriteConflictError, MemoryError)
"""What ends a run; whatever else planning a table raises refuses its changes."""


@dataclass
class Merges:
    """Merges batches, whose rows a log has, into tables; `known` is its content before them."""

    options: LocalOptions
    log: LocalLog
    known: KnownLog
    counts: Counter[str] = field(default_factory=Counter)
    by_table: ChangesByTable = field(default_factory=ChangesByTable)

    def chosen(self, rows: pa.Table) -> pa.Table:
        """Return rows of the log without those of tables that are left out, which are counted."""
        routing = self.options.routing
        if routing.chosen.are_all:
            return rows
        self.known.seen.add(pc.unique(applied_names(rows, routing)).to_pylist())
        found = chosen_rows(rows, routing)
        changes = (pc.sum(pc.equal(one["kind"], CHANGE)).as_py() or 0 for one in (rows, found))
        self.counts["left_out"] += next(changes) - next(changes)
        return found

    def merge(self, rows: pa.Table) -> dict[int, Refusal]:
        """Merge rows of the log; return why changes are refused, by their numbers.

        Doing it again changes nothing.
        """
        options, known = self.options, self.known
        facts = facts_of(rows, with_truncates=options.tables.apply_truncates)
        sources = sources_of(rows, facts, options)
        routes = find_routes(sources.route_keys, options.routing, known.tables, source_of)
        planned, reasons = plans(routes, partial(self._plan, sources), _FATAL)
        refused = refused_in(rows, facts, routes, reasons)
        has_befores = known.has_befores or any(one.has_befores for one in facts.of.values())
        self.log.add_refused(rows, refused)
        kept = pa.array([n not in refused for n in range(len(rows))], pa.bool_())
        befores = moved(rows.filter(kept), self.log, self.counts) if has_befores else {}
        flagged = {target for target, one in planned.items() if one.settings.keeps_deleted}
        deleted = known.deleted(planned, flagged)
        merged: dict[Target, tuple[list[RouteKey], MergedRows]] = {}
        for target, one in planned.items():
            if one.shape is None:
                continue
            keys = routes.targets[target]
            floors = self._floors(target, keys, facts, deleted)
            numbers = [n for key in keys for n in facts.rows[key] if n not in refused]
            gone = (befores.get(source, ()) for source in dict.fromkeys(s for s, _ in keys))
            found = mutations_of(rows, numbers, chain.from_iterable(gone), one.shape)
            merge = TableMerge(
                *(self.log, known, target, one.shape),
                *(one.settings, floors, rows),
            )
            try:
                done = retried(target.name, partial(merge, found))
            except UnwritableError as error:
                only = (
                    n for key in keys if not goes_to_all(key[1], key[0]) for n in facts.rows[key]
                )
                failures = {n: error.refusal for n in only if n not in refused}
                done = MergedTable(Counter(), failures)
            self.counts += done.counts
            refused |= done.failures
            merged[target] = keys, done.merged
        self._count(rows, refused, befores, merged)
        known.add(facts.of)
        self.counts += Counter(key_missing=facts.keyless, refused=len(refused))
        with_truncates = options.tables.apply_truncates
        self.counts += not_applied(facts.controls, with_truncates=with_truncates)
        return refused

    def _floors(
        self,
        target: Target,
        keys: Iterable[RouteKey],
        facts: Facts,
        deleted: Mapping[Target, int],
    ) -> Floors:
        """Return what settles rows of a table that a batch does not have."""
        truncate = max((facts.of[key].truncated for key in keys), default=OLDEST)
        return Floors(truncate, max(self.known.truncated(target), truncate), deleted.get(target))

    def _count(
        self,
        rows: pa.Table,
        refused: Mapping[int, Refusal],
        befores: Deletes,
        merged: Mapping[Target, tuple[list[RouteKey], MergedRows]],
    ) -> None:
        """Count what became of the changes of a batch, by table."""
        changes = changes_in(rows, refused)
        for source, deletes in befores.items():
            key = source, WRITE
            changes[key] = changes.get(key, TableChanges()).plus(TableChanges(moved=len(deletes)))
        self.by_table.add_all(changes_by_table(changes, merged, self.known.account))

    def applied(self) -> Applied:
        """Return what became of all changes."""
        counts = dict(sorted((+self.counts).items()))
        return Applied(counts, self.by_table, self.options.unmatched(self.known))

    def _plan(
        self, sources: BatchSources, target: Target, keys: list[RouteKey]
    ) -> TablePlan[Shape]:
        """Return how a table has its rows after a batch."""
        found, options = TableThere(target, None, None), self.options
        rules = DeltaRsRules()
        settings = options.settings_of(self.known.names(target, keys))
        try:
            table = there(target.name, self.log.id, adopts=options.adopts)
            if table is not None:
                rules = DeltaRsRules(table.names)
                found = TableThere(
                    *(target, table.columns(), table.keys, table.named, table.has_text),
                    given=table.how.given,
                    layout=table.layout,
                    deletes=table.deletes,
                )
            plan = table_plan(found, keys, sources, options, settings, rules)
            if table is not None and plan.shape is not None:
                table.check(plan.shape, keeps_deleted=settings.keeps_deleted)
        except UnwritableError as error:
            return unusable(keys, error.refusal)
        return plan
