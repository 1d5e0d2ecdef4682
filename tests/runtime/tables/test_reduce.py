"""Batches, made one state for each row."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.tables.histories import change, histories, placed, steady

from changewire.tables import PositionedChange
from changewire.tables.merge import Stored, decided_row, reduced
from changewire.tables.mutations import RowMutation, mutations
from changewire.tables.order import OLDEST
from changewire.tables.state import State, joined


@steady
@given(histories(("full", "patch", "keys"), is_distinct=False), st.data())
def test_one_state_for_each_row(history: list[PositionedChange], data: Any) -> None:
    """It is what the changes of the row are together, and their number."""
    batch = [
        effect
        for placed in data.draw(st.permutations(history))
        for effect in mutations(placed.change, placed.position)
    ]
    counts: Counter[str] = Counter()
    expected: dict[Any, State] = {}
    by_row: dict[Any, list[RowMutation]] = {}
    for effect in batch:
        by_row.setdefault(effect.identity, []).append(effect)
        new, held = effect.state(effect.sequence), expected.get(effect.identity)
        expected[effect.identity] = new if held is None else joined(held, new)
    found = {row: made for row in by_row if (made := reduced(by_row[row], None, counts))}
    assert {row: one.state for row, one in found.items()} == expected
    rest = counts["stale"] + counts["duplicate"]
    assert sum(one.changes for one in found.values()) + rest == len(batch)


def test_positions_say_what_came_before() -> None:
    """A change inherits from those before it in its partition, wherever they are in the batch."""
    history = placed(change(sequence=5, a=5), change(sequence=None, a=6))
    batch = [effect for one in history[::-1] for effect in mutations(one.change, one.position)]
    found = decided_row(Stored(), batch, OLDEST, Counter(), lambda state: state)
    assert isinstance(found, State)
    assert (found.order.sequence, found.values) == ((5, 1), {"a": 6})
