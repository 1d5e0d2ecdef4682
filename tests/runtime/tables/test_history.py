"""The history of a row says what tables do: the same row in the end, and why along the way."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from tests.runtime.tables.histories import (
    applied,
    change,
    content,
    deliveries,
    histories,
    placed,
    steady,
)
from tests.runtime.tables.model import key_of

from changewire.tables import MemoryTables, PositionedChange
from changewire.tables.history import History, history_of
from changewire.tables.keys import key_text
from changewire.tables.mutations import is_unpaired_before

KEY = key_text({"id": 1})


def told(*changes: Any, **options: Any) -> History:
    """Return the history of row 1 after changes that came one by one."""
    return history_of(KEY, placed(*changes), **options)


def reasons(history: History) -> list[str | None]:
    """Return why each change did nothing; None where it did."""
    refused = [step.refused for step in history.steps]
    return [None if one is None else one.reason for one in refused]


BEFORE = change("update", 1, (2, 0), before={"id": 1, "a": 1}, is_lone=True)


@pytest.mark.parametrize(
    ("befores", "reason", "values"),
    [
        ({}, "before-image", {"a": 1}),
        ({placed(change(), BEFORE)[1].position: "waits"}, "before-image-waits", {"a": 1}),
        ({placed(change(), BEFORE)[1].position: "moved"}, None, None),
    ],
)
def test_a_before_image_alone(befores: Any, reason: str | None, values: Any) -> None:
    """It deletes its row only if the row has another key now."""
    history = told(change(a=1), BEFORE, befores=befores)
    assert reasons(history) == [None, reason]
    for state in (history.state, history.in_one_batch):
        assert state is not None
        assert state.values == values


@settings(steady, max_examples=60)
@given(st.data())
def test_the_row_is_that_of_the_table(data: st.DataObject) -> None:
    """In any order, with duplicates and ties, the history ends where the table does."""
    drawn = data.draw(histories(("full", "patch", "keys"), is_distinct=False))
    drawn = [one for one in drawn if not is_unpaired_before(one.change)]
    order = [one for batch in data.draw(deliveries(drawn)) for one in batch]
    mine = [one for one in order if one.change.source.table == "t" and is_of_row(one)]
    history, tables = history_of(KEY, mine), MemoryTables()
    for one in mine:
        applied([one], tables=tables)
    row = content(tables).get("t", {}).get(key_of({"id": 1}))
    values = None if history.state is None else history.state.values
    assert (None if values is None else {"id": 1, **values}) == row
    assert len(history.steps) == len(mine)
    for before, after in pairwise(history.steps):
        assert after.before == before.after


def is_of_row(one: PositionedChange) -> bool:
    """Whether a change is of row 1."""
    return {"id": 1} in (one.change.key, one.change.before_key)


HISTORIES: dict[str, tuple[list[Any], list[str | None]]] = {
    "older than the row": ([change(sequence=2), change(sequence=1)], [None, "older-than-row"]),
    "again": ([change(a=1), change(a=1)], [None, "duplicate"]),
    "older than the delete": (
        [change("delete", sequence=3), change(sequence=2), change(sequence=4)],
        [None, "older-than-tombstone", None],
    ),
    "older than the truncate": (
        [change(sequence=1), change("truncate", None, 5), change(sequence=4), change(sequence=6)],
        [None, None, "older-than-truncate", None],
    ),
    "newer than the truncate": (
        [change(sequence=6), change("truncate", None, 5)],
        [None, "older-than-row"],
    ),
    "a truncate without sequence": (
        [change(), change("truncate", None, None)],
        [None, "truncate-without-sequence"],
    ),
    "a sequence of zero is not that of a full load": (
        [change(sequence=1), change(sequence=0)],
        [None, "older-than-row"],
    ),
    "a late row of the full load": ([change(sequence=1), change(sequence=-1)], [None, "full-load"]),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_why_a_change_does_nothing(name: str) -> None:
    """Each refusal names its rule, and the order of what was newer."""
    changes, expected = HISTORIES[name]
    found = told(*changes, apply_truncates=True)
    assert reasons(found) == expected
    for step in found.steps:
        needs_order = step.refused and not step.refused.reason.startswith("truncate")
        assert bool(step.refused and step.refused.held) == bool(needs_order)


def test_steps_say_what_came() -> None:
    """Each has its change, its kind, its order, and the row before and after it."""
    changes = placed(
        change(a=1),
        change("truncate", None, 5),
        change("truncate", None, None),
        change("delete", sequence=9),
    )
    found = history_of(KEY, changes, apply_truncates=True)
    assert [step.placed for step in found.steps] == changes
    assert [step.kind for step in found.steps] == ["full", "truncate", "none", "delete"]
    assert [step.order.sequence for step in found.steps] == [(1, 1), (5, 1), (), (9, 1)]
    assert [step.order.position for step in found.steps] == [one.position for one in changes]
    assert [step.before for step in found.steps] == [None, {"a": 1}, None, None]
    assert [step.after for step in found.steps] == [{"a": 1}, None, None, None]


def test_a_truncate_counts_only_where_it_is_applied() -> None:
    """By default a truncate leaves the row, as in tables, and is no step."""
    found = told(change(a=1), change("truncate", None, 5))
    assert len(found.steps) == 1
    assert found.state is not None
    assert found.state.values == {"a": 1}


def test_columns_before_and_after() -> None:
    """A step names what it changed, what came and went, and what newer patches had set."""
    found = told(
        change(a=1, b=1),
        change("update", 1, 12, row_image="patch", before={"b": 1}, a=3),
        change("update", 1, 11, row_image="patch", a=2, c=2),
        change("delete", sequence=13),
    )
    assert [step.columns() for step in found.steps] == [
        {"a": (UNSET, 1), "b": (UNSET, 1)},
        {"a": (1, 3), "b": (1, UNSET)},
        {"c": (UNSET, 2)},
        {"a": (3, UNSET), "c": (2, UNSET)},
    ]
    assert [step.ignored for step in found.steps] == [(), (), ("a",), ()]


def test_a_row_that_moved_away_is_deleted() -> None:
    """A key update is told in the history of its old key too."""
    found = told(change(a=1), change("update", 2, 5, old=1, a=1))
    assert [step.kind for step in found.steps] == ["full", "delete"]
    assert found.steps[-1].after is None


def test_an_inherited_sequence_may_depend_on_batches() -> None:
    """Where partitions differ one batch gives another row than many, and the history says so."""
    first = placed(change(sequence=5, a=1))
    rest = placed(change(sequence=None, a=2), partition=1)
    found = history_of(KEY, [*first, *rest])
    assert [step.is_inherited for step in found.steps] == [False, True]
    assert found.depends_on_batches
    assert content(applied([*first, *rest])[0]) != content(applied(first, rest)[0])
    in_one_partition = told(change(a=1), change(sequence=None, a=2), change(sequence=0, a=3))
    assert not in_one_partition.depends_on_batches


def test_a_refused_change_does_nothing() -> None:
    """A change that no table took is told in its place, with what is wrong, and has no effect."""
    changes = placed(change(a=1), change(sequence=2, a=2), change(sequence=3, b=1))
    found = history_of(KEY, changes, refused={changes[1].position: "schema-mismatch"})
    assert reasons(found) == [None, "refused", None]
    assert found.steps[1].refused is not None
    assert found.steps[1].refused.detail == "schema-mismatch"
    assert found.steps[2].columns() == {"a": (1, UNSET), "b": (UNSET, 1)}
