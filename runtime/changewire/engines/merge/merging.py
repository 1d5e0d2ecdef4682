"""One batch, merged into its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.applied import not_applied
from changewire.engines.errors import KeysMissingError, StreamError
from changewire.engines.known import KnownLog
from changewire.engines.merge.befores import Moved, moved
from changewire.engines.merge.facts import Facts, facts_of
from changewire.engines.merge.hard import decided
from changewire.engines.merge.late import logged_deletes
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.mutations import (
    MUTATIONS,
    is_easy,
    mutations_of,
    newest,
    with_order,
)
from changewire.engines.merge.options import LocalOptions
from changewire.engines.merge.plan import plan, refused_in, sources_of
from changewire.engines.merge.shapes import NAMED, Shape, rows_of
from changewire.engines.merge.table import LocalTable, made, there
from changewire.engines.retries import WriteConflictError, retried
from changewire.engines.typed.plan import plans
from changewire.tables.mutations import DELETE
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal, RouteKey, find_routes

_FATAL: Final = (StreamError, WriteConflictError, MemoryError)
"""What ends a run; whatever else planning a table raises refuses its changes."""

_DECIDED: Final = "decided"


@dataclass
class Merges:
    """Merges batches into their tables.

    Attributes:
        options: How changes are applied.
        log: The log, which has the rows of a batch when it is merged.
        known: What the log had before it.
        counts: What was done.
    """

    options: LocalOptions
    log: LocalLog
    known: KnownLog
    counts: Counter[str] = field(default_factory=Counter)

    def merge(self, rows: pa.Table) -> dict[int, Refusal]:
        """Merge decoded rows with `EFFECTS`; return why changes are refused, by their numbers.

        Doing it again changes nothing.

        Raises:
            StreamError: A table cannot be merged into.
        """
        options, known = self.options, self.known
        facts = facts_of(rows, with_truncates=options.tables.apply_as_truncates)
        sources = sources_of(rows, facts, options)
        routes = find_routes(sources.route_keys, options.routing, known.tables)
        of_table = partial(there, log=self.log.id, adopts=options.adopts)
        planned, reasons = plans(
            routes,
            lambda target, keys: plan(target, keys, sources, options, of_table(target.name)),
            _FATAL,
        )
        refused = refused_in(rows, facts, routes, reasons)
        befores = self._moved(rows, facts, refused)
        deleted = known.deleted(planned, are_flagged=options.keeps_deleted)
        for target, one in planned.items():
            if one.shape is not None:
                table = TableMerge(
                    self, target, one.shape, routes.targets[target], facts, deleted.get(target)
                )
                found = table.mutations(rows, refused, befores)
                counts, failures = retried(target.name, partial(table.merge, found))
                self.counts += counts
                refused |= failures
        known.add(facts.of)
        self.counts += Counter(key_missing=facts.keyless, refused=len(refused))
        with_truncates = options.tables.apply_as_truncates
        self.counts += not_applied(facts.controls, with_truncates=with_truncates)
        return refused

    def check_keys(self, rows: pa.Table) -> None:
        """Refuse a batch in which no change has a key, if none ever had one.

        Raises:
            KeysMissingError: It is such a batch.
        """
        if self.known.tables.names:
            return
        facts = facts_of(rows, with_truncates=False)
        if facts.changes and facts.changes == facts.keyless:
            raise KeysMissingError(
                f"none of {facts.changes} changes has a key, so no table can take them; name the "
                "columns of the key by `keys`. Nothing of the batch was written"
            )

    def _moved(self, rows: pa.Table, facts: Facts, refused: Collection[int]) -> Moved:
        """Return which keys updates left whose images came as two messages."""
        has_some = any(one.has_befores for one in facts.of.values())
        if not has_some and not self.known.has_befores:
            return Moved({})
        found = moved(without(rows, refused), self.log)
        self.counts["waiting_before_images"] += found.waiting
        return found


@dataclass
class TableMerge:
    """Merges one batch into one table.

    Attributes:
        merges: What it is part of.
        target: The table.
        shape: How it has its rows.
        keys: Where its changes come from.
        facts: What is known of the batch.
        deleted: Greatest first number of the sequence of a delete in the log before it.
    """

    merges: Merges
    target: Target
    shape: Shape
    keys: list[RouteKey]
    facts: Facts
    deleted: int | None

    def mutations(self, rows: pa.Table, refused: Collection[int], befores: Moved) -> pa.Table:
        """Return what the batch does to the rows of the table."""
        numbers = [n for key in self.keys for n in self.facts.rows[key] if n not in refused]
        sources = dict.fromkeys(source for source, _ in self.keys)
        gone = [one for source in sources for one in befores.deletes.get(source, ())]
        found = mutations_of(rows, numbers)
        return pa.concat_tables([found, pa.Table.from_pylist(gone, MUTATIONS)])

    def merge(self, mutations: pa.Table) -> tuple[Counter[str], dict[int, Refusal]]:
        """Merge mutations; return what was done, and which changes do not fit.

        Raises:
            WriteConflictError: Another writer came first; it can be done again.
        """
        merges, shape = self.merges, self.shape
        counts: Counter[str] = Counter()
        table = made(self.target.name, shape, merges.log.id)
        truncate = max((self.facts.of[key].truncated for key in self.keys), default=OLDEST)
        floor = max(merges.known.truncated(self.target), truncate)
        if truncate > OLDEST:
            counts["deleted"] += table.truncate(floor)
        found, failures, rounded = shape.fitted(mutations)
        counts["sequence_inherited"] += found["major"].null_count
        counts["rounded_numbers"] += rounded
        hard = self._hard(found, table)
        mark = _free(_DECIDED, shape)
        deletes = self._deletes(found)
        parts, is_hard = [], pc.is_in(found["key"], pa.array(sorted(hard), pa.string()))
        easy = newest(self._beyond(found.filter(pc.invert(is_hard)), floor))
        parts.append(rows_of(_undeleted(easy, deletes), shape, mark))
        if hard or truncate > OLDEST:
            those = found.filter(is_hard)
            held = self._held(those, table, has_truncate=truncate > OLDEST)
            outcome = decided(those, held, deletes, floor, shape, mark)
            parts.append(outcome.rows)
            failures |= outcome.failures
        rows = pa.concat_tables(parts)
        if len(rows):
            keeps = merges.options.keeps_deleted
            counts += table.merge(rows, shape, mark, keeps_deleted=keeps)
        return counts, failures

    def _beyond(self, found: pa.Table, floor: Order) -> pa.Table:
        """Return the mutations that are newer than a truncate."""
        return (
            found
            if floor == OLDEST
            else with_order(found, lambda order, _key, _kind: order > floor)
        )

    def _hard(self, found: pa.Table, table: LocalTable) -> set[str]:
        """Return the keys whose rows Python decides on."""
        hard = {*found.filter(pc.invert(is_easy(found)))["key"].to_pylist()}
        if self.merges.known.has_patches(self.target) and len(found):
            # What is older than a patched row may still set, or settle, columns of it.
            keys = {*found["key"].to_pylist()}
            rows = table.rows(_values(found, self.shape), are_patched=True)
            hard |= {key for key in map(self.shape.key_text, rows) if key in keys}
        return hard

    def _held(
        self, found: pa.Table, table: LocalTable, *, has_truncate: bool
    ) -> list[Mapping[str, Any]]:
        """Return the rows of hard keys; after a truncate also others that were patched."""
        keys = {*found["key"].to_pylist()}
        rows = table.rows(_values(found, self.shape), are_patched=False) if keys else ()
        held = {key: row for row in rows if (key := self.shape.key_text(row)) in keys}
        if has_truncate:
            for row in table.rows(None, are_patched=True):
                held.setdefault(self.shape.key_text(row), row)
        return [*held.values()]

    def _deletes(self, found: pa.Table) -> dict[str, Order]:
        """Return the deletes in the log of keys that have a change which may be older."""
        merges, deleted = self.merges, self.deleted
        if deleted is None or not len(found):
            return {}
        writes = found.filter(pc.not_equal(found["kind"], DELETE))
        is_late = pc.fill_null(pc.less_equal(writes["major"], deleted), True)  # noqa: FBT003
        wanted = {*writes.filter(is_late)["key"].to_pylist()}
        least = None if found["major"].null_count else pc.min(writes["major"]).as_py()
        if not wanted or (least is not None and least > deleted):
            return {}
        return logged_deletes(merges.log, merges.known, self.target, self.shape, wanted, least)


def without(rows: pa.Table, numbers: Collection[int]) -> pa.Table:
    """Return rows without some, by their numbers."""
    if not numbers:
        return rows
    return rows.take(pa.array([n for n in range(len(rows)) if n not in numbers], pa.int64()))


def _undeleted(found: pa.Table, deletes: Mapping[str, Order]) -> pa.Table:
    """Return mutations without the writes that are older than a delete."""
    if not deletes:
        return found

    def holds(order: Order, key: str, kind: str) -> bool:
        return kind == DELETE or deletes.get(key, OLDEST) <= order

    return with_order(found, holds)


def _values(found: pa.Table, shape: Shape) -> pa.Table:
    """Return the columns of keys."""
    return pa.table({name: pc.struct_field(found[NAMED], name) for name in shape.keys})


def _free(name: str, shape: Shape) -> str:
    """Return a name that no column of a table has."""
    taken: Sequence[str] = [one.lower() for one in shape.schema.names]
    while name in taken:
        name = f"_{name}"
    return name
