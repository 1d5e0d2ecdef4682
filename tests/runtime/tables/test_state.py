"""States of one row, joined."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from changewire.tables.order import OLDEST, ChangePosition, Order
from changewire.tables.row_state import row_state, state_from
from changewire.tables.state import State, decided, full_image, joined, patch, tombstone

VALUES = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3)


def at(number: int, sequence: int | None = None) -> Order:
    """Return an order: offset and, unless given, sequence are `number`."""
    place = ChangePosition("t", 0, number, 0)
    return Order((number if sequence is None else sequence, 1), place)


@st.composite
def states(draw: Any, size: int = 4) -> list[State]:
    """Draw what some changes leave, each of another order."""
    made = []
    for number in draw(st.lists(st.integers(0, 20), max_size=size, unique=True)):
        values = draw(VALUES)
        gone = dict.fromkeys(draw(st.sets(st.sampled_from("abc"))), UNSET)
        kinds = [tombstone(at(number)), full_image(at(number), values)]
        kinds.append(patch(at(number), {**values, **gone}))
        made.append(draw(st.sampled_from(kinds)))
    return made


def all_of(made: list[State]) -> State:
    """Return states joined from left to right."""
    found = made[0]
    for state in made[1:]:
        found = joined(found, state)
    return found


@given(states(8), st.data())
def test_joining_takes_any_order_and_any_groups(made: list[State], data: Any) -> None:
    """Joining is commutative and associative."""
    if not made:
        return
    mixed = data.draw(st.permutations(made))
    cut = data.draw(st.integers(0, len(made) - 1))
    grouped = [all_of(part) for part in (mixed[:cut], mixed[cut:]) if part]
    assert all_of(made) == all_of(mixed) == all_of(grouped) == all_of(grouped[::-1])


@given(states(8))
def test_joining_again_changes_nothing(made: list[State]) -> None:
    """Joining is idempotent, with a whole and with each of its parts."""
    if made:
        whole = all_of(made)
        assert joined(whole, whole) == whole
        assert all(joined(whole, part) == whole == joined(part, whole) for part in made)


@given(states(6))
def test_a_state_is_kept_in_the_column_of_its_row(made: list[State]) -> None:
    """The column and the values of a row, or of a tombstone, give its state back."""
    for state in [*made, *([all_of(made)] if made else [])]:
        assert state_from(row_state(state), state.values) == state


def test_the_column_of_a_full_image_is_flat() -> None:
    """A row of a full image has no columns there; a missing sequence is null."""
    place = {"topic": "t", "partition": 0, "offset": 4, "element": 0}
    flat = {"major": 4, "minor": 1, **place, "deleted": False, "columns": None, "rescued": None}
    assert row_state(full_image(at(4), {"a": 1})) == flat
    oldest = Order((), at(4).position)
    nothing = {"major": None, "minor": None, "deleted": True}
    assert row_state(tombstone(oldest)) == {**flat, **nothing}
    column = row_state(patch(at(4), {"a": UNSET}))
    order = '[[4,1],["t",0,4,0]]'
    assert column["columns"] == f'[[[],["",-1,-1,-1]],{{"a":{order}}}]'
    assert state_from(column, {}).floor == OLDEST


def test_decisions() -> None:
    """What is newer applies; what was seen is a duplicate; the rest is stale."""
    row, gone = full_image(at(5), {"a": 1}), tombstone(at(5))
    assert decided(None, row) == (row, "applied")
    assert decided(row, full_image(at(6), {"a": 1})).decision == "applied"
    assert decided(row, tombstone(at(6))) == (tombstone(at(6)), "applied")
    assert decided(row, row).decision == "duplicate"
    assert decided(gone, gone).decision == "duplicate"
    assert decided(row, full_image(at(9, sequence=5), {"a": 1})).decision == "duplicate"
    assert decided(row, full_image(at(3, sequence=5), {"a": 1})).decision == "duplicate"
    assert decided(row, full_image(at(4), {"a": 2})).decision == "stale"
    assert decided(gone, full_image(at(4), {"a": 2})) == (gone, "stale")
    assert decided(row, row, floor=at(7)) == (None, "stale")
