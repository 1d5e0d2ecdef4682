"""Tables depend on the set of their changes: any order, duplicates, batches and restarts."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.tables.histories import applied, content, deliveries, histories, steady
from tests.runtime.tables.model import tables_of

ANY = ("full", "patch", "keys")


@steady
@given(st.data())
def test_full_images(data: Any) -> None:
    """With full images and distinct sequences, the tables are those of the model."""
    history = data.draw(histories())
    tables, _ = applied(*data.draw(deliveries(history)))
    assert content(tables) == tables_of(history)


@steady
@given(st.data())
def test_any_image(data: Any) -> None:
    """So they are where full images, patches and bare keys are mixed."""
    history = data.draw(histories(ANY))
    tables, _ = applied(*data.draw(deliveries(history)))
    assert content(tables) == tables_of(history)


@steady
@given(st.data())
def test_equal_sequences(data: Any) -> None:
    """Positions decide where sequences are equal, so the tables are those of the model again."""
    history = data.draw(histories(ANY, is_distinct=False))
    tables, _ = applied(*data.draw(deliveries(history)))
    assert content(tables) == tables_of(history)
