"""What a row becomes by a batch."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from tests.runtime.tables.histories import change, histories, placed, steady

from changewire.tables import PositionedChange
from changewire.tables.merge import merged
from changewire.tables.mutations import RowMutation, mutations
from changewire.tables.order import ChangePosition, Order
from changewire.tables.state import State, full_image, joined, tombstone


def at(number: int) -> Order:
    """Return an order whose sequence and offset are a number."""
    return Order((number, 1), ChangePosition("topic", 0, number, 0))


@steady
@given(histories(("full", "patch", "keys"), is_distinct=False), st.data())
def test_one_state_for_each_row(history: list[PositionedChange], data: Any) -> None:
    """It is what the changes of the row are together."""
    by_row: dict[Any, list[RowMutation]] = {}
    expected: dict[Any, State] = {}
    for one in data.draw(st.permutations(history)):
        for effect in mutations(one.change, one.position):
            by_row.setdefault(effect.identity, []).append(effect)
            new, held = effect.state(effect.sequence), expected.get(effect.identity)
            expected[effect.identity] = new if held is None else joined(held, new)
    assert {row: merged(None, batch) for row, batch in by_row.items()} == expected


def test_positions_say_what_came_before() -> None:
    """A change inherits from those before it in its partition."""
    history = placed(change(sequence=5, a=5), change(sequence=None, a=6))
    batch = [effect for one in history for effect in mutations(one.change, one.position)]
    found = merged(None, batch)
    assert isinstance(found, State)
    assert (found.order.sequence, found.values) == ((5, 1), {"a": 6})


def test_what_stays_as_it_is() -> None:
    """A table is told of a delete only if it has the row, or a change deletes that again."""
    row, gone = full_image(at(1), {"a": 1}), tombstone(at(3))
    (late,) = mutations(change(sequence=2, a=2))
    (delete,) = mutations(change("delete", sequence=4), at(4).position)
    assert merged(row, []) is UNSET
    assert merged(gone, [late]) is UNSET
    assert merged(None, [late], deleted=gone.order) is UNSET
    assert merged(None, [late], floor=at(3)) is UNSET
    assert merged(row, [late], deleted=gone.order) == gone
    assert merged(row, [late], floor=at(3)) == gone
    assert merged(row, [], floor=at(3)) == gone
    assert merged(gone, [delete]) == merged(None, [delete]) == tombstone(at(4))
