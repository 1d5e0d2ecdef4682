"""The changes of a batch, made one for each row before any row is touched.

A MERGE takes at most one source row for each key; this is that row.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from changewire.tables.effects import Effect
from changewire.tables.keys import Identity
from changewire.tables.order import NO_SEQUENCE, Order, Sequence, is_full_load
from changewire.tables.state import Decision, Row, State, decided

INHERITED = "sequence_inherited"
TIES = "ordered_by_position"
STALE_FULL_LOAD = "stale_full_load"


class Reduced(Struct):
    """All that a batch does to one row.

    Attributes:
        key: Columns that name the row.
        state: What the row is by these changes alone.
        changes: How many changes made it.
        full_loads: How many of them were rows of an initial load.
    """

    key: Row
    state: State
    changes: int
    full_loads: int


def reduced(
    batch: Iterable[Effect], held: Callable[[Identity], State | None], counts: Counter[str]
) -> dict[Identity, Reduced]:
    """Return what the changes of a batch leave of each row, in the order of their positions.

    A change without a sequence takes the greatest one of those before it for its key in its topic
    partition, and of the row or tombstone as the batch finds it; without any it is oldest. That is
    counted as ``sequence_inherited``; ``ordered_by_position`` counts the changes where nothing but
    the position tells which of two different contents is newer.

    Args:
        batch: What changes of one table do to rows.
        held: Returns the row or tombstone of a key, as the table has it.
        counts: Takes what was counted, and the decisions on changes that another one of the batch
            makes ``stale`` or ``duplicate``.
    """
    found: dict[Identity, Reduced] = {}
    newest: dict[tuple[Identity, str, int], Sequence] = {}
    for effect in sorted(batch, key=lambda effect: effect.position):
        identity, position = effect.identity, effect.position
        place = (identity, position.topic, position.partition)
        if place not in newest:
            state = held(identity)
            newest[place] = NO_SEQUENCE if state is None else state.order.sequence
        if not effect.sequence:
            counts[INHERITED] += 1
        sequence = effect.sequence or newest[place]
        newest[place] = max(newest[place], sequence)
        _add(found, effect, sequence, counts)
    return found


def _add(
    found: dict[Identity, Reduced], effect: Effect, sequence: Sequence, counts: Counter[str]
) -> None:
    new = effect.state(sequence)
    is_load = is_full_load(sequence) and effect.kind != "delete"
    before = found.get(effect.identity)
    if before is None:
        found[effect.identity] = Reduced(effect.key, new, 1, int(is_load))
        return
    after, decision, is_tie = decided(before.state, None, new)
    counts[TIES] += is_tie
    before.state = after or before.state
    if decision == "applied":
        before.changes += 1
        before.full_loads += is_load
    else:
        _count(counts, decision, 1, int(is_load), before.state.order)


def settled(
    row: State | None, grave: State | None, new: Reduced, floor: Order, counts: Counter[str]
) -> State | None:
    """Return what a row becomes by a batch; None where it stays as it is.

    Args:
        row: The row as it is stored.
        grave: Its tombstone as it is stored.
        new: All that the batch does to it.
        floor: Order of the newest truncate of the table.
        counts: Takes the decision.
    """
    outcome = decided(row, grave, new.state, floor)
    counts[TIES] += outcome.is_tie
    newest = max([floor, *(state.order for state in (row, grave) if state is not None)])
    _count(counts, outcome.decision, new.changes, new.full_loads, newest)
    return None if outcome.state == (row or grave) else outcome.state


def _count(
    counts: Counter[str], decision: Decision, changes: int, full_loads: int, held: Order
) -> None:
    """Count a decision on changes, and rows of an initial load that a sequenced row refused.

    Args:
        counts: Takes the counts.
        decision: What became of the changes.
        changes: How many there were.
        full_loads: How many of them were rows of an initial load.
        held: Order of what was there before.
    """
    counts[decision] += changes
    if decision == "stale" and full_loads and held.sequence and not is_full_load(held.sequence):
        counts[STALE_FULL_LOAD] += full_loads
