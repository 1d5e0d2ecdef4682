"""Batches of changes, applied to tables in memory."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from typing import Final

from msgspec import UNSET, Struct, field

from changewire.changes.identity import Identity
from changewire.tables.memory import (
    Entry,
    Images,
    MemoryTable,
    MemoryTables,
    Update,
    add_delete,
)
from changewire.tables.merge import merged
from changewire.tables.mutations import DELETE, WRITES, RowMutation, is_unpaired_before, mutations
from changewire.tables.order import OLDEST, Order, PositionedChange, sequence_of
from changewire.tables.routing import (
    REFUSALS,
    TRUNCATE,
    WRITE,
    Refusal,
    RouteKey,
    Routes,
    Routing,
    apply_failed,
    find_routes,
    goes_to_all,
    in_order,
    leaves_out,
    namespace_of,
    route_op,
)
from changewire_messages.change import Change

_NOT_APPLIED: Final[Mapping[str, str]] = {
    TRUNCATE: "truncates_not_applied",
    "statement": "statements_without_rows",
}
"""What counts control events that changed rows at their source, by their operations."""


class Result(Struct):
    """What became of a batch.

    Attributes:
        counts: Rows that were ``inserted``, ``updated`` and ``deleted``. Beside them there are
            ``key_missing``, ``left_out``, ``refused``, ``sequence_inherited``,
            ``statements_without_rows``, ``truncates_not_applied`` and ``waiting_before_images``;
            what is 0 is left out.
        refused: Refused changes, each with the code of the refusal.
    """

    counts: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[PositionedChange, str]] = field(default_factory=list)


def apply_changes(
    tables: MemoryTables,
    batch: Iterable[PositionedChange],
    routing: Routing,
    *,
    apply_truncates: bool = False,
) -> Result:
    """Apply a batch of changes. A change that one table cannot take changes none.

    Args:
        tables: The tables; they are changed.
        batch: Changes and control events, in any order.
        routing: How sources find their targets.
        apply_truncates: Whether a truncate removes rows; otherwise it is counted only.
    """
    counts: Counter[str] = Counter()
    taken: list[PositionedChange] = []
    for one in sorted(batch, key=lambda placed: placed.position):
        op = one.change.op
        if leaves_out(op, one.change.source, routing):
            counts["left_out"] += op in WRITES or op == DELETE
        elif (op in WRITES or op == DELETE) and one.change.key is None:
            counts["key_missing"] += 1
        elif op in WRITES or op == DELETE or (op == TRUNCATE and apply_truncates):
            taken.append(one)
        elif op in _NOT_APPLIED:
            counts[_NOT_APPLIED[op]] += 1
    routes = find_routes(in_order({_route(one) for one in taken}), routing, tables.known)
    for target, namespace in routes.added:
        tables.add(target, namespace)
    effects = [_effect(one, routes) for one in taken]
    while True:
        accepted = {n: one for n, one in enumerate(effects) if not isinstance(one, Refusal)}
        decided = _Decided(tables, accepted, routes)
        if not decided.failures:
            break
        effects = [decided.failures.get(number, one) for number, one in enumerate(effects)]
    pairs = zip(taken, effects, strict=True)
    refused = [(one, why.code) for one, why in pairs if isinstance(why, Refusal)]
    counts += decided.write()
    counts["refused"] = len(refused)
    return Result(+counts, refused)


class _Effect(Struct, frozen=True):
    """The effect of a change.

    Attributes:
        route: Its source, and its effect.
        order: Order of a truncate; `OLDEST` for other changes.
        mutations: Its effects on rows.
        update: The update of which it is one image.
        is_before: Whether it is the before image; then it does nothing by itself.
    """

    route: RouteKey
    order: Order
    mutations: list[RowMutation] = field(default_factory=list)
    update: Update | None = None
    is_before: bool = False


def _route(one: PositionedChange) -> RouteKey:
    return one.change.source, route_op(one.change.op)


def _effect(one: PositionedChange, routes: Routes) -> _Effect | Refusal:
    """Return the effect of a change, or why it is refused."""
    change, route = one.change, _route(one)
    if route in routes.refused:
        return routes.refused[route]
    if change.op == TRUNCATE:
        order = Order(sequence_of(change.sequence), one.position)
        has_order = bool(order.sequence)
        return _Effect(route, order) if has_order else REFUSALS["truncate-without-sequence"]
    try:
        found = mutations(change, one.position)
    except Exception as error:  # noqa: BLE001 - one change must not end the run
        return apply_failed(error, "", "reading the change")
    return _Effect(route, OLDEST, found, _update(change), is_unpaired_before(change))


def _update(change: Change) -> Update | None:
    """Return the update of which a change is one image; None if it has both, or is not one."""
    order = change.sequence
    if change.op != "update" or order is None or order.major < 0:
        return None
    is_after = change.before is None and change.after is not None and order.minor == 1
    return (change.source, order.major) if is_after or is_unpaired_before(change) else None


_Rows = dict[Identity, list[tuple[int | None, RowMutation]]]
"""Effects of a batch on the rows of a table, with the numbers of changes; None if of an earlier."""


class _Decided:
    """Effects of a batch on all tables.

    Attributes:
        failures: Why changes cannot be applied, by their numbers.
    """

    def __init__(
        self, tables: MemoryTables, effects: Mapping[int, _Effect], routes: Routes
    ) -> None:
        """Decide what each row becomes; nothing is written."""
        self.failures: dict[int, Refusal] = {}
        self._tables = tables
        self._effects = effects
        self._counts: Counter[str] = Counter()
        self._updates = _images(tables, effects.values())
        self._merges: list[tuple[MemoryTable, Order, dict[Identity, Entry]]] = []
        for target, keys in routes.targets.items():
            table = tables.tables[target.folded]
            mine = [one.order for one in effects.values() if one.route in keys]
            floor = max([table.truncated, *mine])
            self._merges.append((table, floor, self._rows(table, floor, self._of(keys))))

    def _of(self, keys: Collection[RouteKey]) -> _Rows:
        """Return the effects of the batch on the rows of a table, by the source of its changes."""
        found: _Rows = {}
        for number, one in self._effects.items():
            for mutation in () if one.is_before or one.route not in keys else one.mutations:
                found.setdefault(mutation.identity, []).append((number, mutation))
                self._counts["sequence_inherited"] += not mutation.sequence
        for (source, _), images in self._updates.items():
            for mutation in images.moved() if (source, WRITE) in keys else ():
                found.setdefault(mutation.identity, []).append((None, mutation))
        return found

    def _rows(self, table: MemoryTable, floor: Order, found: _Rows) -> dict[Identity, Entry]:
        """Return what rows of a table become."""
        entries: dict[Identity, Entry] = {}
        for identity in {**found, **(table.entries if floor > table.truncated else {})}:
            held, mine = table.entries.get(identity), found.get(identity, [])
            batch = sorted((one for _, one in mine), key=lambda mutation: mutation.position)
            key = batch[0].key if held is None else held.key
            try:
                state = merged(None if held is None else held.state, batch, floor)
            except Exception as error:  # noqa: BLE001 - one row must not end the run
                why = apply_failed(error, "", "deciding on the row")
                self.failures |= {number: why for number, _ in mine if number is not None}
                continue
            if state is not UNSET:
                entries[identity] = Entry(key, state)
        return entries

    def write(self) -> Counter[str]:
        """Set what was decided; return what became of rows and changes."""
        counts, tables = self._counts, self._tables
        counts["waiting_before_images"] = sum(one.waiting() for one in self._updates.values())
        for table, floor, entries in self._merges:
            table.truncated = floor
            counts += _counted(table, entries)
            table.entries |= entries
        for one in self._effects.values():
            source, op = one.route
            if goes_to_all(op, source):
                held = tables.deletes.setdefault(namespace_of(source), {})
                for mutation in one.mutations:
                    state = mutation.state(mutation.sequence)
                    add_delete(held, mutation.identity, Entry(mutation.key, state))
        tables.updates |= self._updates
        return counts


def _images(tables: MemoryTables, effects: Iterable[_Effect]) -> dict[Update, Images]:
    """Return all that is known of the updates of which a batch has an image."""
    found: dict[Update, Images] = {}
    for one in effects:
        if one.update is None:
            continue
        if one.update not in found:
            found[one.update] = deepcopy(tables.updates.get(one.update, Images()))
        images = found[one.update]
        for mutation in one.mutations:
            if not one.is_before:
                images.afters.add(mutation.identity)
            elif mutation not in (befores := images.befores.setdefault(mutation.identity, [])):
                befores.append(mutation)
    return found


def _counted(table: MemoryTable, entries: Mapping[Identity, Entry]) -> Counter[str]:
    """Return how many rows are inserted, updated and deleted."""
    counts: Counter[str] = Counter()
    for identity, entry in entries.items():
        held, is_row = table.entries.get(identity), entry.state.values is not None
        was_row = held is not None and held.state.values is not None
        counts["inserted"] += is_row and not was_row
        counts["updated"] += is_row and was_row
        counts["deleted"] += was_row and not is_row
    return counts
