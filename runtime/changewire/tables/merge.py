"""What a row becomes by a batch: the decision that every MERGE carries out."""

from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import UNSET, UnsetType

from changewire.tables.mutations import RowMutation
from changewire.tables.order import NO_SEQUENCE, OLDEST, Order, Sequence
from changewire.tables.state import State, joined, tombstone


def merged(
    held: State | None,
    batch: Iterable[RowMutation],
    floor: Order = OLDEST,
    deleted: Order = OLDEST,
) -> State | UnsetType:
    """Return what a row becomes by a batch and a truncate; UNSET if it stays as it is.

    Args:
        held: The state in its table: the row, or that it is deleted.
        batch: Effects of changes on it, in the order of their positions.
        floor: Order of the newest truncate of the table.
        deleted: Order of its newest delete that is known elsewhere.
    """
    (last,) = deque(each_merged(held, batch, floor, deleted), maxlen=1)
    return last


def each_merged(
    held: State | None,
    batch: Iterable[RowMutation],
    floor: Order = OLDEST,
    deleted: Order = OLDEST,
) -> Iterator[State | UnsetType]:
    """Yield what `merged` returns for no change of a batch, for its first, its first two, ..."""
    known = after = _after(held, floor, deleted)
    yield _changed(held, known, after, floor)
    oldest = NO_SEQUENCE if known is None else known.order.sequence
    for mutation, sequence in sequenced(batch, oldest):
        new = mutation.state(sequence)
        after = new if after is None else joined(after, new)
        yield _changed(held, known, after, floor)


def _changed(
    held: State | None, known: State | None, after: State | None, floor: Order
) -> State | UnsetType:
    """Return the state that a table gets; UNSET if its row stays as it is."""
    after = _with_delete(after, floor)
    is_row = held is not None and held.values is not None
    # A table is not told of a delete that is known already, unless it still has the row.
    same = (held,) if is_row else (held, known, tombstone(floor))
    return UNSET if after is None or after in same else after


def _after(held: State | None, floor: Order, deleted: Order) -> State | None:
    """Return what is known of a row before a batch."""
    if held is not None and held.values is not None and floor > OLDEST:
        held = after_truncate(held, floor)
    return _with_delete(held, deleted)


def _with_delete(state: State | None, order: Order) -> State | None:
    """Return what is known of a row with a delete, or with a truncate of its table."""
    if order == OLDEST:
        return state
    return tombstone(order) if state is None else joined(state, tombstone(order))


def after_truncate(row: State, floor: Order) -> State | None:
    """Return what a truncate leaves of a row."""
    left = joined(row, tombstone(floor))
    return None if left.values is None else left


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
