"""What the rows of a table become by a batch: the decision that every MERGE carries out.

A batch is reduced to one state for each row before any row is touched: a MERGE takes at most one
source row for each key.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType

from changewire.tables.mutations import RowMutation
from changewire.tables.order import NO_SEQUENCE, OLDEST, Order, Sequence, is_full_load
from changewire.tables.routing import Refusal, apply_failed
from changewire.tables.state import Decision, State, decided, joined, tombstone

INHERITED = "sequence_inherited"
TIES = "ordered_by_position"
STALE_FULL_LOAD = "stale_full_load"


class Stored(Struct):
    """What a table has of a key.

    Attributes:
        row: The row.
        tombstone: Its tombstone; of several the newest.
    """

    row: State | None = None
    tombstone: State | None = None

    def add_tombstone(self, other: State) -> None:
        """Take one more tombstone."""
        self.tombstone = other if self.tombstone is None else joined(self.tombstone, other)

    @property
    def newest(self) -> State | None:
        """The row or the tombstone; of both, what they are together."""
        row, buried = self.row, self.tombstone
        return joined(row, buried) if row and buried else row or buried


_Written = TypeVar("_Written")


def decided_row(
    stored: Stored,
    batch: Iterable[RowMutation],
    floor: Order,
    counts: Counter[str],
    written: Callable[[State | None], _Written],
) -> _Written | Refusal | None:
    """Return what is written for a row; None if it stays, a refusal if deciding on it fails.

    `floor` is the order of the newest truncate of the table, `counts` takes what became of the
    changes, and `written` returns what is written, by what the row becomes.
    """
    try:
        ordered = sorted(batch, key=lambda mutation: mutation.position)
        becomes = merged(stored, ordered, floor, counts)
        return None if becomes is UNSET else written(becomes)
    except Exception as error:  # noqa: BLE001 - one key must not end the run
        return apply_failed(error, "", "deciding on the row")


def merged(
    stored: Stored, batch: Iterable[RowMutation], floor: Order, counts: Counter[str]
) -> State | UnsetType | None:
    """Return what a row becomes by a batch and a truncate; UNSET if it stays as it is.

    It is a row, or the tombstone of one; None if a truncate leaves nothing. The changes come in the
    order of their positions. `floor` is the order of the newest truncate of the table, and `counts`
    takes what became of the changes.
    """
    left = Stored(after_truncate(stored.row, floor), stored.tombstone)
    new = reduced(batch, left.newest, counts)
    state = None if new is None else settled(left, new, floor, counts)
    after = state or left.row
    return UNSET if after == stored.row else after


def after_truncate(row: State | None, floor: Order) -> State | None:
    """Return what a truncate leaves of a row."""
    if row is None or floor == OLDEST:
        return row
    left = joined(row, tombstone(floor))
    return None if left.values is None else left


class Reduced(Struct):
    """All that a batch does to one row.

    Attributes:
        state: What the row is by these changes alone.
        changes: How many changes made it.
        full_loads: How many of them were rows of an initial load.
    """

    state: State
    changes: int
    full_loads: int


def reduced(
    batch: Iterable[RowMutation], held: State | None, counts: Counter[str]
) -> Reduced | None:
    """Return what the changes of a batch leave of a row, in the order of their positions.

    A change without a sequence takes the greatest one of those before it in its topic partition,
    and of the row or tombstone as the batch finds it; without any it is oldest. That is counted as
    ``sequence_inherited``; ``ordered_by_position`` counts the changes of which only the position
    says which of two different contents is newer. Counted are also the decisions on changes that
    another one of the batch makes ``stale`` or ``duplicate``.
    """
    found: Reduced | None = None
    oldest = NO_SEQUENCE if held is None else held.order.sequence
    for mutation, sequence in sequenced(batch, oldest):
        if not mutation.sequence:
            counts[INHERITED] += 1
        found = _added(found, mutation, sequence, counts)
    return found


def sequenced(
    batch: Iterable[RowMutation], oldest: Sequence
) -> Iterator[tuple[RowMutation, Sequence]]:
    """Yield the changes of a row, each with its sequence.

    A change without one takes the greatest of those before it in its topic partition; before the
    first of these that is `oldest`, the greatest sequence that is known of the row.

    Args:
        batch: The changes, in the order of their positions.
        oldest: That sequence.
    """
    newest: dict[tuple[str, int], Sequence] = {}
    for mutation in batch:
        place = (mutation.position.topic, mutation.position.partition)
        before = newest.get(place, oldest)
        sequence = mutation.sequence or before
        newest[place] = max(before, sequence)
        yield mutation, sequence


def _added(
    before: Reduced | None, mutation: RowMutation, sequence: Sequence, counts: Counter[str]
) -> Reduced:
    new = mutation.state(sequence)
    is_load = is_full_load(sequence) and mutation.kind != "delete"
    if before is None:
        return Reduced(new, 1, int(is_load))
    after, decision, is_tie = decided(before.state, None, new)
    counts[TIES] += is_tie
    before.state = after or before.state
    if decision == "applied":
        before.changes += 1
        before.full_loads += is_load
    else:
        _count(counts, decision, 1, int(is_load), before.state.order)
    return before


def settled(stored: Stored, new: Reduced, floor: Order, counts: Counter[str]) -> State | None:
    """Return what a row becomes by all that a batch does to it; None if it stays as it is."""
    row, buried = stored.row, stored.tombstone
    outcome = decided(row, buried, new.state, floor)
    counts[TIES] += outcome.is_tie
    newest = max([floor, *(state.order for state in (row, buried) if state is not None)])
    _count(counts, outcome.decision, new.changes, new.full_loads, newest)
    return None if outcome.state == (row or buried) else outcome.state


def _count(
    counts: Counter[str], decision: Decision, changes: int, full_loads: int, held: Order
) -> None:
    """Count a decision on changes, and rows of an initial load that a sequenced row refused."""
    counts[decision] += changes
    if decision == "stale" and full_loads and held.sequence and not is_full_load(held.sequence):
        counts[STALE_FULL_LOAD] += full_loads
