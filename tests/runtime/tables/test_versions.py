"""Every version of a row: the same after any order, and any doubling."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.tables.histories import (
    applied,
    change,
    content,
    deliveries,
    halves,
    histories,
    placed,
    steady,
    truncates,
)
from tests.runtime.tables.model import key_of
from tests.runtime.tables.model import versions_of as versions_by_model

import changewire as cw
from changewire.tables import PositionedChange
from changewire.tables.history import history_of
from changewire.tables.keys import key_text
from changewire.tables.mutations import is_unpaired_before, mutations
from changewire.tables.order import Order, sequence_of
from changewire.tables.state import State, tombstone
from changewire.tables.versions import Version, states_of, versions_of

KEY = {"id": 1}
ANY = ("full", "patch", "keys")

Spans = list[tuple[Any, ...]]
"""Versions as the tests compare them: the row, and the orders of its first and its next change."""


def of_row(batch: Iterable[PositionedChange]) -> list[State]:
    """Return what the changes of a batch leave of row 1, each by itself."""
    changes = [one for one in batch if one.change.source.table == "t"]
    truncates = [one for one in changes if one.change.op == "truncate"]
    found = [m for one in changes for m in mutations(one.change, one.position) if m.key == KEY]
    orders = (Order(sequence_of(one.change.sequence), one.position) for one in truncates)
    return [*states_of(found), *map(tombstone, orders)]


def spans(versions: Iterable[Version]) -> Spans:
    """Return versions without the states behind them."""
    return [({**KEY, **one.values}, one.began, one.ended) for one in versions]


def sequences(found: Spans) -> Spans:
    """Return versions without positions."""
    return [(row, first.sequence, last and last.sequence) for row, first, last in found]


def numbers(*changes: Any) -> list[tuple[Any, ...]]:
    """Return the column ``a`` of each version of row 1, and the sequences of its two ends."""
    found = versions_of(of_row(placed(*changes)))
    return [
        (one.values.get("a"), one.began.sequence[0], one.ended and one.ended.sequence[0])
        for one in found
    ]


def expected(history: Iterable[PositionedChange]) -> Spans:
    """Return the versions of row 1 by the model."""
    return [(*one,) for one in versions_by_model(history).get(key_of(KEY), [])]


@steady
@given(st.data())
def test_all_changes_at_once(data: st.DataObject) -> None:
    """The versions are those of the model, in whatever order and how often changes are given."""
    history = [*data.draw(histories(ANY)), *data.draw(truncates())]
    order = [one for batch in data.draw(deliveries(history)) for one in batch]
    assert spans(versions_of(of_row(order))) == expected(history)


@steady
@given(st.data())
def test_equal_sequences(data: st.DataObject) -> None:
    """Positions decide between changes of one sequence: each has its version."""
    history = data.draw(histories(ANY, is_distinct=False))
    order = [one for batch in data.draw(deliveries(history)) for one in batch]
    assert spans(versions_of(of_row(order))) == expected(history)


@steady
@given(st.data())
def test_images_in_two_messages(data: st.DataObject) -> None:
    """They are one update, whether they come together or in two batches."""
    images = data.draw(halves())
    history = [*data.draw(histories()), *images]
    order = [one for batch in data.draw(deliveries(history)) for one in batch]
    found = spans(versions_of(of_row(order)))
    assert found == expected(history)
    places = {sequence_of(one.change.sequence): one.position for one in history}
    together = cw.pair(one.change for one in history)
    paired = [PositionedChange(one, places[sequence_of(one.sequence)]) for one in together]
    assert sequences(found) == sequences(spans(versions_of(of_row(paired))))


@steady
@given(st.data())
def test_the_current_version_is_the_row_of_the_table(data: st.DataObject) -> None:
    """A version is current if and only if the table has the row, and then they are the same."""
    drawn = data.draw(histories(ANY, is_distinct=False))
    history = [one for one in drawn if not is_unpaired_before(one.change)]
    batches = data.draw(deliveries(history))
    tables, _ = applied(*batches)
    row = content(tables).get("t", {}).get(key_of(KEY))
    versions = versions_of(of_row(one for batch in batches for one in batch))
    current = [{**KEY, **one.values} for one in versions if one.ended is None]
    assert current == ([] if row is None else [row])


@steady
@given(st.data())
def test_a_trace_shows_the_versions(data: st.DataObject) -> None:
    """What changes do one by one, oldest first, begins and ends versions; the last is current."""
    history = [*data.draw(histories(ANY)), *data.draw(truncates())]
    of_table = [one for one in history if one.change.source.table == "t"]
    mine = [one for one in of_table if one.change.op == "truncate" or of_row([one])]
    befores: Any = {one.position: "moved" for one in mine}
    oldest_first = sorted(mine, key=lambda one: (sequence_of(one.change.sequence), one.position))
    traced = history_of(key_text(KEY), oldest_first, befores=befores, apply_truncates=True)
    changed = [step for step in traced.steps if step.after != step.before]
    found = [
        ({**KEY, **step.after}, step.order, after and after.order)
        for step, after in zip_longest(changed, changed[1:])
        if step.after is not None
    ]
    assert found == expected(history)
    order = data.draw(st.permutations(mine))
    late = history_of(key_text(KEY), order, befores=befores, apply_truncates=True).state
    current = [row for row, _, ended in found if ended is None]
    assert current == ([] if late is None or late.values is None else [{**KEY, **late.values}])


def test_a_late_change_splits_a_version() -> None:
    """It ends the version which it falls into, and the next change still begins its own."""
    late = change(sequence=11, a=2)
    assert numbers(change(sequence=10, a=1), change(sequence=12, a=3), late) == [
        (1, 10, 11),
        (2, 11, 12),
        (3, 12, None),
    ]


def test_a_change_that_leaves_the_row_as_it_is_begins_no_version() -> None:
    """But a late change before it makes it one that begins a version."""
    same = change("update", sequence=12, row_image="patch", a=1)
    assert numbers(change(sequence=10, a=1), same) == [(1, 10, None)]
    late = change("update", sequence=11, row_image="patch", a=2)
    assert numbers(change(sequence=10, a=1), same, late) == [
        (1, 10, 11),
        (2, 11, 12),
        (1, 12, None),
    ]


def test_an_update_in_two_messages_leaves_no_gap() -> None:
    """The row before it ends nothing if the row after it comes, with the same columns or others."""
    before = change("update", sequence=(12, 0), before={"id": 1}, is_lone=True)
    first, after = change(sequence=10, a=1), change("update", sequence=12, a=2)
    assert numbers(first, before) == [(1, 10, 12)]
    assert numbers(after, first, before) == [(1, 10, 12), (2, 12, None)]
    assert numbers(first, change("update", sequence=12, a=1), before) == [(1, 10, None)]


def test_a_delete_between_the_images_of_an_update_leaves_a_gap() -> None:
    """The row that is written behind the delete, at the same sequence, is another version."""
    before = change("update", sequence=(12, 0), before={"id": 1}, is_lone=True)
    first, delete = change(sequence=10, a=1), change("delete", sequence=12)
    found = numbers(first, delete, change(sequence=12, a=1), before)
    assert found == [(1, 10, 12), (1, 12, None)]


def test_rows_that_come_back_have_a_gap() -> None:
    """A delete ends the version; the same row again is another version."""
    found = numbers(change(a=1), change("delete", sequence=2), change(sequence=5, a=1))
    assert found == [(1, 1, 2), (1, 5, None)]


def test_late_changes_before_a_delete_have_versions() -> None:
    """The table never had that row, and yet it was there."""
    assert numbers(change("delete", sequence=5), change(sequence=3, a=1)) == [(1, 3, 5)]


def test_an_initial_load_is_the_oldest_version() -> None:
    """It comes late as a rule, and never is newer than a change with a sequence."""
    found = numbers(change(sequence=10, a=2), change("insert", sequence=-1, a=1))
    assert found == [(1, -1, 10), (2, 10, None)]
