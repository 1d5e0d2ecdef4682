"""A batch of changes, applied to all the tables that it feeds."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct, field

from changewire.changes.pairs import pair_placed
from changewire.tables.effects import DELETE, WRITES, Effect, effects
from changewire.tables.order import Order, Placed, sequence_of
from changewire.tables.reduce import reduced, settled
from changewire.tables.routing import Reason, Routing, goes_to_all, namespace_of, route
from changewire.tables.store import Entry, Table, Tables

TRUNCATE = "truncate"


class Result(Struct):
    """What became of a batch.

    Attributes:
        counts: ``applied``, ``stale`` and ``duplicate`` are what changes did to rows: one that
            moves a row does two things. Beside them there are ``key_missing``,
            ``lone_before_unused``, ``ordered_by_position``, ``sequence_inherited``,
            ``stale_full_load``, ``truncates``, the reasons of dead letters, and the operations
            of control events.
        dead_letters: Changes that cannot be applied, and why.
    """

    counts: Counter[str] = field(default_factory=Counter)
    dead_letters: list[tuple[Placed, Reason]] = field(default_factory=list)

    def refuse(self, placed: Placed, reason: Reason) -> None:
        """Take a dead letter."""
        self.counts[reason] += 1
        self.dead_letters.append((placed, reason))


def apply_changes(
    tables: Tables,
    batch: Iterable[Placed],
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
    result = Result()
    ready = sorted(_paired(batch), key=_goes_to_all)
    work: dict[str, list[Effect]] = {}
    for placed in ready:
        op = placed.change.op
        if op == TRUNCATE and apply_as_truncates:
            _truncate(tables, placed, routing, result)
        elif op not in WRITES and op != DELETE:
            result.counts[op] += 1
        elif placed.change.key is None:
            result.counts["key_missing"] += 1
        else:
            found = effects(placed)
            for table in _targets(tables, placed, routing, result):
                work.setdefault(table.target.folded, []).extend(found)
                result.counts["lone_before_unused"] += not found
            _keep_for_all(tables, placed, at)
    for name, found in work.items():
        _merge(tables.tables[name], found, at, result.counts)
    result.counts = +result.counts
    return result


def _goes_to_all(placed: Placed) -> bool:
    return goes_to_all(placed.change.op, placed.change.source)


def _paired(batch: Iterable[Placed]) -> Iterator[Placed]:
    """Yield changes with the halves of updates joined, at the place of the row after."""
    placed = sorted(batch, key=lambda one: one.position)
    pairs = pair_placed(((one.position, one.change) for one in placed), size=len(placed) or 1)
    return (Placed(change, position) for position, change in pairs)


def _targets(tables: Tables, placed: Placed, routing: Routing, result: Result) -> Iterator[Table]:
    """Yield the tables of a change, or refuse it."""
    change = placed.change
    namespace = namespace_of(change.source)
    targets = route(change.op, change.source, routing, tables.members.get(namespace, []))
    if not targets and not _goes_to_all(placed):
        result.refuse(placed, "table-missing")
    for target in targets:
        if tables.has_other(target):
            result.refuse(placed, "name-collision")
        else:
            yield tables.declare(target, namespace)


def _truncate(tables: Tables, placed: Placed, routing: Routing, result: Result) -> None:
    sequence = sequence_of(placed.change.sequence)
    if not sequence:
        result.refuse(placed, "truncate-without-sequence")
        return
    for table in _targets(tables, placed, routing, result):
        table.truncate(Order(sequence, placed.position))
        result.counts["truncates"] += 1


def _keep_for_all(tables: Tables, placed: Placed, at: datetime) -> None:
    """Keep a delete that names no table for the tables that are not known yet."""
    sequence = sequence_of(placed.change.sequence)
    if not _goes_to_all(placed) or not sequence:
        return
    graves = tables.graves.setdefault(namespace_of(placed.change.source), {})
    for effect in effects(placed):
        entry = Entry(effect.key, effect.state(sequence), at)
        held = graves.get(effect.identity)
        if held is None or held.state.order < entry.state.order:
            graves[effect.identity] = entry


def _merge(table: Table, batch: list[Effect], at: datetime, counts: Counter[str]) -> None:
    """Set each row that a batch changes, once."""
    for identity, new in reduced(batch, table.held, counts).items():
        row, grave = table.row(identity), table.grave(identity)
        state = settled(row, grave, new, table.truncated, counts)
        if state is not None:
            table.put(identity, Entry(new.key, state, at))
