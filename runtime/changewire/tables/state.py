"""The state of one row, and how two states become one.

Joining is commutative, associative and idempotent, so the content of a table depends on the set of
its changes alone: not on their order, on duplicates or on batches.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET, Struct

from changewire.tables.order import OLDEST, Order

Row = Mapping[str, Any]
Decision = Literal["applied", "stale", "duplicate"]
"""``applied``: the row is another one now. ``stale``: it has something newer. ``duplicate``: it
has just that; its position may have moved on."""

_NO_ORDERS: Final[Mapping[str, Order]] = {}


class State(Struct, frozen=True):
    """What is known of one key: a row, or a tombstone.

    Attributes:
        order: Of the newest write of a row, or of the newest delete of a tombstone.
        floor: Up to here every column is settled, by a delete or a full image. A column that is
            not in `columns` has this order.
        values: Columns of the row but its key; None for a tombstone.
        columns: Order of each column that a patch has set or removed since then.
    """

    order: Order
    floor: Order
    values: Row | None
    columns: Mapping[str, Order] = _NO_ORDERS


class DecidedState(NamedTuple):
    """What became of a row.

    Attributes:
        state: The state after; None if a truncate left nothing.
        decision: What became of the change.
    """

    state: State | None
    decision: Decision


def tombstone(order: Order) -> State:
    """Return the state that a delete leaves."""
    return State(order, order, None)


def full_image(order: Order, values: Row) -> State:
    """Return the state that a whole row leaves."""
    return State(order, order, values)


def patch(order: Order, values: Row) -> State:
    """Return the state that some columns leave; a value of UNSET removes its column.

    Without columns it says that the row exists, and nothing of its columns.
    """
    kept = {name: value for name, value in values.items() if value is not UNSET}
    return State(order, OLDEST, kept, dict.fromkeys(values, order))


def joined(one: State, other: State) -> State:
    """Return what two states of one key are together; of equal orders, `one` is kept."""
    newest = one if rank(one) >= rank(other) else other
    if newest.values is None:
        return newest
    floor = max(one.floor, other.floor)
    values, columns = _columns(one, other, floor)
    return State(newest.order, floor, values, columns)


def rank(state: State) -> tuple[Order, bool]:
    """Return what sorts states, the oldest first; of one order, a tombstone is the newest."""
    return state.order, state.values is None


def _columns(one: State, other: State, floor: Order) -> tuple[Row, Mapping[str, Order]]:
    """Return the columns that are newer than an order, or make it; of each the newest."""
    if not one.columns and not other.columns:
        settled = one if one.floor == floor else other
        return settled.values or {}, _NO_ORDERS
    values: dict[str, Any] = {}
    columns: dict[str, Order] = {}
    for state in (other, one):
        if state.values is None:
            continue
        for name in {**state.values, **state.columns}:
            order = state.columns.get(name, state.floor)
            if order >= columns.get(name, floor):
                values[name] = state.values.get(name, UNSET)
                columns[name] = order
    return (
        {name: value for name, value in values.items() if value is not UNSET},
        {name: order for name, order in columns.items() if order > floor},
    )


def decided(held: State | None, new: State, floor: Order = OLDEST) -> DecidedState:
    """Return what is known of a row after a change, and what became of the change.

    `floor` is the order of the newest truncate of the table.
    """
    after = new if held is None else joined(held, new)
    if floor > OLDEST:
        after = joined(after, tombstone(floor))
    if after.values is None and after.order == floor:
        return DecidedState(None, "stale")
    return DecidedState(after, "applied" if held is None else _decision(held, new, after))


def _decision(held: State, new: State, after: State) -> Decision:
    is_same = _is_same(held, new)
    if after == held:
        return "duplicate" if is_same else "stale"
    return "duplicate" if is_same and after.values == held.values else "applied"


def _is_same(stored: State, new: State) -> bool:
    """Whether a state is that of a change which the stored one has seen, here or elsewhere."""
    if stored.order == new.order:
        return True
    return stored.order.sequence == new.order.sequence and stored.values == new.values
