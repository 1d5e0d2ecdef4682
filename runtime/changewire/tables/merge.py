"""What a row of a table becomes by a batch: the decision that every MERGE of ours carries out."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from changewire.tables.effects import Effect
from changewire.tables.order import OLDEST, Order
from changewire.tables.reduce import reduced, settled
from changewire.tables.state import State, joined, tombstone


class Merged(Struct, frozen=True):
    """What a row becomes.

    Attributes:
        state: A row, or the tombstone of one; None where a truncate leaves nothing.
    """

    state: State | None


def merged(
    row: State | None,
    grave: State | None,
    batch: Iterable[Effect],
    floor: Order,
    counts: Counter[str],
) -> Merged | None:
    """Return what a row becomes by a batch and a truncate; None where it stays as it is.

    Args:
        row: The row as it is stored.
        grave: Its tombstone as it is stored.
        batch: What the changes of the batch do to this row.
        floor: Order of the newest truncate of the table.
        counts: Takes what became of the changes.
    """
    left = _after_truncate(row, floor)
    stored = joined(left, grave) if left and grave else left or grave
    (new,) = reduced(batch, lambda _: stored, counts).values() or (None,)
    state = None if new is None else settled(left, grave, new, floor, counts)
    after = state or left
    return None if after == row else Merged(after)


def _after_truncate(row: State | None, floor: Order) -> State | None:
    """Return what a truncate leaves of a row."""
    if row is None or floor == OLDEST:
        return row
    left = joined(row, tombstone(floor))
    return None if left.values is None else left
