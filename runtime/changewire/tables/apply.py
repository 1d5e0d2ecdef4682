"""Batches of changes, applied to tables in memory."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from changewire.changes.pairs import pair_placed
from changewire.tables import planner
from changewire.tables.batch import (
    BatchChange,
    KeyedMutation,
    RowBatch,
    TableMutations,
    decide_rows,
    without_changes,
)
from changewire.tables.keys import Identity
from changewire.tables.memory import Entry, MemoryTable, MemoryTables
from changewire.tables.merge import Stored
from changewire.tables.mutations import DELETE, WRITES, mutations
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order, PositionedChange, sequence_of
from changewire.tables.routing import (
    TRUNCATE,
    Namespace,
    Refusal,
    Routes,
    Routing,
    deletes_last,
    namespace_of,
    route_op,
)
from changewire.tables.state import State


class Result(Struct):
    """What became of a batch.

    Attributes:
        counts: ``applied``, ``stale`` and ``duplicate`` are what changes did to rows: one that
            moves a row does two things. Beside them there are ``key_missing``,
            ``lone_before_unused``, ``ordered_by_position``, ``sequence_inherited``,
            ``stale_full_load``, ``truncates``, the reasons of dead letters, and the operations
            of control events.
        dead_letters: Changes that cannot be applied, and why: the code of the dead letter.
    """

    counts: Counter[str] = field(default_factory=Counter)
    dead_letters: list[tuple[PositionedChange, str]] = field(default_factory=list)


def apply_changes(
    tables: MemoryTables,
    batch: Iterable[PositionedChange],
    routing: Routing,
    at: datetime,
    *,
    apply_as_truncates: bool = False,
) -> Result:
    """Apply a batch of changes.

    Args:
        tables: The tables; they are changed.
        batch: Changes and control events, in any order.
        routing: How sources find their targets.
        at: The time now, from which the retention of tombstones counts.
        apply_as_truncates: Whether a truncate removes rows; otherwise it is counted only.
    """
    ops = {*WRITES, DELETE, *([TRUNCATE] if apply_as_truncates else [])}
    changes = _paired(batch)
    controls = Counter(one.change.op for one in changes if one.change.op not in ops)
    numbered = [_change(i, one) for i, one in enumerate(changes) if one.change.op in ops]
    rows = RowBatch(numbered, lambda _: ())  # they are paired
    planned = planner.plan(rows, rows.summary(deletes_last), routing, tables.known)
    for target, namespace in planned.routes.added:
        tables.add(target, namespace)
    decided = planner.decide(_merges(tables, planned.batch, planned.routes, at))
    left = planned.batch.without(*decided.failures)
    planned = planner.BatchPlan(left, planned.routes, planned.counts)
    counts = planner.write(planned, decided, _Registry(tables, at)) + controls
    counts += Counter({"truncates": _truncates(left, planned.routes)})
    counts += Counter(why.code for why in left.refused.values())
    letters = [(changes[index], why.code) for index, why in sorted(left.refused.items())]
    return Result(counts, letters)


def _paired(batch: Iterable[PositionedChange]) -> list[PositionedChange]:
    """Return changes by position with the images of updates paired, each with that of the after."""
    placed = sorted(batch, key=lambda one: one.position)
    pairs = pair_placed(((one.position, one.change) for one in placed), size=len(placed) or 1)
    return [PositionedChange(change, position) for position, change in pairs]


def _change(index: int, placed: PositionedChange) -> BatchChange:
    """Return a change of a batch, its keys as `Identity`."""
    change, position = placed.change, placed.position
    has_key = change.key is not None and change.op != TRUNCATE
    found = mutations(change, position) if has_key else []
    return BatchChange(
        index=index,
        route=(change.source, route_op(change.op)),
        has_key=has_key,
        order=Order(sequence_of(change.sequence), position),
        mutations=[KeyedMutation(one.identity, one, index) for one in found],
    )


def _truncates(batch: RowBatch, routes: Routes) -> int:
    """Return how often truncates were applied: one counts once for each table."""
    applied = [one for one in batch.accepted() if one.is_truncate]
    return sum(one.route in keys for one in applied for keys in routes.targets.values())


class _Decisions(Struct):
    """What the rows of a table become.

    Attributes:
        entries: What is put for each key; None if nothing is left of it.
        counts: What became of the changes.
        failures: Why changes cannot be applied, by their numbers.
    """

    entries: dict[Identity, Entry | None]
    counts: Counter[str]
    failures: dict[int, Refusal]


class _MemoryMerge(Struct, frozen=True):
    """What a batch does to one table."""

    table: MemoryTable
    mutations: TableMutations
    truncate: Order
    at: datetime

    def decide(self) -> _Decisions:
        """Decide what each row becomes that mutations, or a truncate, concern."""
        entries: dict[Identity, Entry | None] = {}

        def take(key: Identity, stored: Stored, state: State | None) -> None:
            del stored
            entries[key] = None if state is None else self._entry(key, state)

        table, floor = self.table, max(self.table.truncated, self.truncate)
        rows = table.rows if self.truncate > OLDEST else ()
        stored = {key: table.stored(key) for key in [*self.mutations, *rows]}
        counts, failures = decide_rows(stored, self.mutations, floor, take)
        return _Decisions(entries, counts, failures)

    def _entry(self, key: Identity, state: State) -> Entry:
        batch = self.mutations.get(key)
        if batch is None:
            return replace(self.table.rows[key], state=state)
        return Entry(batch[0].mutation.key, state, self.at)

    def failures(self, decisions: _Decisions) -> dict[int, Refusal] | None:
        """Return why changes cannot be applied."""
        return decisions.failures or None

    def without(self, failures: dict[int, Refusal]) -> "_MemoryMerge":
        """Return what is done without some changes."""
        return replace(self, mutations=without_changes(self.mutations, failures))

    def write(self, decisions: _Decisions) -> Counter[str]:
        """Set what was decided."""
        self.table.truncated = max(self.table.truncated, self.truncate)
        for identity, entry in decisions.entries.items():
            self.table.put(identity, entry)
        return decisions.counts


def _merges(
    tables: MemoryTables, batch: RowBatch, routes: Routes, at: datetime
) -> Iterator[_MemoryMerge]:
    for target, keys in routes.targets.items():
        table, truncate = tables.tables[target.folded], batch.newest_truncate(keys)
        yield _MemoryMerge(table, batch.mutations_of(keys), truncate, at)


class _Registry(Struct, frozen=True):
    """Keeps the deletes that name no table."""

    tables: MemoryTables
    at: datetime

    def keep_deletes(self, batch: RowBatch) -> None:
        """Keep deletes with a sequence; others are older than all that is known of a row."""
        for change in batch.accepted():
            if not (change.is_for_all and change.order.sequence):
                continue
            namespace = namespace_of(change.route[0])
            held = self.tables.tombstones.setdefault(namespace, {})
            for one in () if isinstance(change.mutations, Refusal) else change.mutations:
                mutation = one.mutation
                entry = Entry(mutation.key, mutation.state(mutation.sequence), self.at)
                old = held.get(mutation.identity)
                if old is None or old.state.order < entry.state.order:
                    held[mutation.identity] = entry

    def keep_tables(self, added: list[tuple[Target, Namespace]]) -> None:
        """Do nothing: the tables are known already."""
