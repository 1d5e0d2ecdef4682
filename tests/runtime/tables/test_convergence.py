"""Tables depend on the set of their changes: any order, duplicates, batches and restarts."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.tables.histories import (
    applied,
    content,
    deliveries,
    halves,
    histories,
    steady,
    truncates,
)
from tests.runtime.tables.model import filled, tables_of

ANY = ("full", "patch", "keys")


@steady
@given(st.data())
def test_full_images(data: Any) -> None:
    """With full images and distinct sequences, the tables are those of the model."""
    history = data.draw(histories())
    tables, _ = applied(*data.draw(deliveries(history)))
    assert filled(content(tables)) == filled(tables_of(history, befores_wait=True))


@steady
@given(st.data())
def test_any_image(data: Any) -> None:
    """So they are where full images, patches and bare keys are mixed."""
    history = data.draw(histories(ANY))
    tables, _ = applied(*data.draw(deliveries(history)))
    assert filled(content(tables)) == filled(tables_of(history, befores_wait=True))


@steady
@given(st.data())
def test_equal_sequences(data: Any) -> None:
    """Positions decide where sequences are equal, so the tables are those of the model again."""
    history = data.draw(histories(ANY, is_distinct=False))
    tables, _ = applied(*data.draw(deliveries(history)))
    assert filled(content(tables)) == filled(tables_of(history, befores_wait=True))


@steady
@given(st.data())
def test_images_in_two_messages(data: Any) -> None:
    """Before images wait for their after images, in any order and across batches."""
    history = data.draw(histories(ANY)) + data.draw(halves())
    tables, _ = applied(*data.draw(deliveries(history)))
    assert filled(content(tables)) == filled(tables_of(history, befores_wait=True))


@steady
@given(st.data())
def test_missing_after_images(data: Any) -> None:
    """If images are lost, the tables are those of the model again."""
    history = [one for one in data.draw(halves()) if data.draw(st.booleans())]
    history += data.draw(truncates())
    tables, _ = applied(*data.draw(deliveries(history)), apply_truncates=True)
    expected = tables_of(history, truncates=True, befores_wait=True)
    assert filled(content(tables)) == filled(expected)
