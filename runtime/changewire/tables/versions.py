"""Every version of a row: what it was after each of its changes, oldest change first.

States join in any order, so what a row was after a change is the join of all states up to it.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from changewire.tables.merge import sequenced
from changewire.tables.mutations import RowMutation
from changewire.tables.order import NO_SEQUENCE, Order
from changewire.tables.state import Row, State, joined, rank


class Version(Struct, frozen=True):
    """What a row was from one change up to another one.

    Attributes:
        state: The row after the change that began the version.
        ended: Order of the change that ended it, or of the truncate; None if it is current.
    """

    state: State
    ended: Order | None = None

    @property
    def values(self) -> Row:
        """Columns of the row but its key."""
        return self.state.values or {}

    @property
    def began(self) -> Order:
        """Order of the change that began it."""
        return self.state.order


def versions_of(states: Iterable[State]) -> list[Version]:
    """Return the versions of a row, oldest first.

    A delete at (S, 0) and a write at (S, 1) are one update, whose images came in two messages, or
    which moved another row to the key: it leaves no gap.

    Args:
        states: What each of its changes leaves by itself, in any order and any number of times; a
            truncate of the table leaves a tombstone.
    """
    found: list[Version] = []
    newest_delete: Order | None = None
    for after in _in_order(states):
        last = found[-1] if found else None
        if last is None or not _goes_on(last, after, newest_delete):
            found += [Version(after)] if after.values is not None else []
        elif after.values == last.values:
            found[-1] = Version(last.state)
        else:
            found[-1] = Version(last.state, after.order)
            found += [Version(after)] if after.values is not None else []
        newest_delete = after.order if after.values is None else newest_delete
    return found


def _goes_on(version: Version, after: State, newest_delete: Order | None) -> bool:
    """Whether a row is still there, or again by the second half of an update."""
    end = version.ended
    if end is None or after.values is None or newest_delete is None:
        return end is None
    is_half = end.sequence[1:] == (0,) and newest_delete.sequence == end.sequence
    return is_half and after.order.sequence == (*end.sequence[:1], 1)


def _in_order(states: Iterable[State]) -> Iterator[State]:
    """Yield what the row was after each change; what changes nothing at all is left out."""
    row: State | None = None
    for state in sorted(states, key=rank):
        after = state if row is None else joined(row, state)
        if after != row:
            yield after
        row = after


def states_of(batch: Iterable[RowMutation]) -> list[State]:
    """Return what each change leaves of a row by itself, in the order of their positions.

    A change without a sequence takes one as `changewire.tables.merge.sequenced` says.
    """
    ordered = sorted(batch, key=lambda mutation: mutation.position)
    return [mutation.state(sequence) for mutation, sequence in sequenced(ordered, NO_SEQUENCE)]
