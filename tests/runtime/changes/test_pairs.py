"""Updates in two messages, joined."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.runtime.changes.dataworks import change
from tests.runtime.changes.lindorm import change as lindorm_change
from tests.runtime.tables.histories import applied, placed, rows

import changewire as cw


def before(number: int = 1, key: int = 1, **more: Any) -> cw.Change:
    """Return the change of a lone row before an update."""
    return change("UPDATE_BEFOR", before={"id": key}, sequenceId=str(number), **more)


def after(number: int = 1, key: int = 1, **more: Any) -> cw.Change:
    """Return the change of a lone row after an update."""
    return change("UPDATE_AFTER", after={"id": key}, sequenceId=str(number), **more)


def insert(number: int = 1) -> cw.Change:
    """Return a change that is no half."""
    return change("INSERT", after={"id": number}, sequenceId=str(number))


def paired(*changes: cw.Change, size: int = 1000) -> list[cw.Change]:
    """Return what `changewire.pair` yields."""
    return list(cw.pair(changes, size=size))


def test_two_halves_are_what_one_message_would_be() -> None:
    """The joined change is the one of a message with both rows, in either order of the halves."""
    both = change("UPDATE_AFTER", before={"id": 1}, after={"id": 2}, sequenceId="1")
    assert both.before_key == {"id": 1}
    assert paired(before(), after(key=2)) == paired(after(key=2), before()) == [both]
    (same,) = paired(before(), after())
    assert (same.before, same.after, same.before_key) == ({"id": 1}, {"id": 1}, None)


def test_keys_that_python_calls_equal_are_two() -> None:
    """A half is joined with that of its own key first, and of another one has the key before."""
    untyped: dict[str, Any] = {"types": {}, "key_columns": ["id"]}
    one, other, new = before(key=True, **untyped), before(**untyped), after(**untyped)
    (found,) = paired(one, new)
    assert repr((found.before_key, found.key)) == "({'id': True}, {'id': 1})"
    joined, left = paired(one, other, new)
    assert (joined.before_key, joined.before, left) == (None, {"id": 1}, one)
    assert repr(left.key) == "{'id': True}"


def test_no_key_before_without_a_key() -> None:
    """Where the row after has no key, nothing says that the row moved."""
    (found,) = paired(before(), change("UPDATE_AFTER", after={"name": "a"}, sequenceId="1"))
    assert (found.key, found.before_key, found.before) == (None, None, {"id": 1})


def test_attributes_are_those_of_both() -> None:
    """What only one half has stays; leniencies are counted for both."""
    one = before(scn="1", types={}, timestamp={"eventTime": 5, "systemTime": 6})
    (found,) = paired(one, after(types={}, timestamp={"eventTime": 7, "systemTime": 8}))
    assert found.attributes["leniencies"] == ["undeclared-column"] * 2
    assert (found.attributes["scn"], found.attributes["system_time"]) == ("1", 8)
    assert (found.attributes["op"], found.sequence) == (
        "UPDATE_AFTER",
        cw.Sequence(major=1, minor=1),
    )


@pytest.mark.parametrize(
    "other",
    [
        after(2),
        replace(after(), source=replace(after().source, table="other")),
        before(),
        insert(),
        change("DELETE", before={"id": 1}, sequenceId="1"),
        change("UPDATE_AFTER", before={"id": 1}, after={"id": 1}, sequenceId="1"),
        change("UPDATE_AFTER", after={"id": 1}, sequenceId=None),
        lindorm_change("u", after={"id": 1}),
    ],
)
def test_what_is_not_joined(other: cw.Change) -> None:
    """A row before is joined with the row after of the same number and table, and nothing else."""
    assert sorted(paired(before(), other), key=repr) == sorted((before(), other), key=repr)


def test_updates_of_the_initial_load_are_no_halves() -> None:
    """All rows of the initial load have the number -1, so it does not distinguish them."""
    halves = (before(-1), after(-1))
    assert paired(*halves) == list(halves)


def test_the_same_key_goes_first() -> None:
    """Of updates with one number those of the same key belong together, then the only others."""
    found = paired(before(key=1), before(key=2), after(key=2), after(key=1))
    assert [(c.before, c.after) for c in found] == [({"id": 2},) * 2, ({"id": 1},) * 2]
    found = paired(before(key=1), before(key=2), after(key=3), after(key=1))
    assert [(c.before, c.after) for c in found] == [({"id": 1},) * 2, ({"id": 2}, {"id": 3})]


def test_rows_that_may_be_either_are_not_joined() -> None:
    """Nothing says which row a new key had, so the halves stay as they are."""
    alone = [before(key=1), before(key=2), after(key=3)]
    assert paired(*alone) == alone


def test_a_repeated_half_is_joined_with_no_other_row() -> None:
    """A topic may repeat messages: one that waits, or was joined, comes at once as it is."""
    (once,) = paired(before(), after())
    assert paired(before(), before(), after(), after()) == [before(), once, after()]
    (moved,) = paired(before(key=2), after(key=3))
    found = paired(before(), after(), before(), after(key=3), before(key=2))
    assert found == [once, before(), moved]


@given(order=st.permutations([0, 0, 1, 2, 3]), key=st.sampled_from([1, 3]))
def test_tables_have_the_same_rows_with_joined_halves(order: list[int], key: int) -> None:
    """One statement changes or moves the first row, and moves the second; a half comes twice."""
    halves = [before(key=1), after(key=key), before(key=2), after(key=4)]
    changes = [*map(insert, (1, 2)), *(halves[number] for number in order)]
    changes[:2] = [replace(one, sequence=cw.Sequence(major=0, minor=1)) for one in changes[:2]]
    tables, _ = applied(placed(*cw.pair(changes)))
    assert [row["id"] for row in rows(tables, "users")] == [key, 4]


def test_places() -> None:
    """What is no half comes at once, a joined change with its second half, the rest at the end."""
    found = paired(before(1), insert(5), after(2), insert(6), after(1), insert(7), before(3))
    assert [c.sequence and c.sequence.major for c in found] == [5, 6, 1, 7, 2, 3]


def test_a_half_that_is_pushed_out_comes_alone() -> None:
    """Where too many wait, the oldest comes out before the change that pushed it."""
    found = paired(before(1), before(2), insert(9), before(3), after(1), after(2), size=2)
    assert found == [insert(9), before(1), before(2), before(3), after(1), after(2)]


@pytest.mark.parametrize("size", [0, -1])
def test_no_room_is_refused_at_once(size: int) -> None:
    """A size below 1 is refused by the call itself."""
    with pytest.raises(ValueError, match="size is at least 1"):
        cw.pair([], size=size)


NUMBERS, KEYS = st.integers(1, 4), st.integers(1, 2)
CHANGES = st.lists(
    st.one_of(
        st.builds(before, NUMBERS, KEYS),
        st.builds(after, NUMBERS, KEYS),
        st.builds(insert, NUMBERS),
    ),
    max_size=30,
)


def halves(found: cw.Change) -> Iterator[cw.Change]:
    """Yield what a change was made of, as far as the tests look: images, op and sequence."""
    if found.op == "update" and found.before is not None and found.after is not None:
        yield replace(found, before=None, before_key=None)
        key = found.before_key or found.key
        order = cw.Sequence(major=found.sequence.major if found.sequence else 0, minor=0)
        attributes = {**found.attributes, "op": "UPDATE_BEFOR"}
        yield replace(
            found,
            after=None,
            key=key,
            before_key=None,
            sequence=order,
            attributes=attributes,
        )
    else:
        yield found


@given(changes=CHANGES, size=st.integers(1, 5))
def test_nothing_is_lost_and_others_keep_their_order(changes: list[cw.Change], size: int) -> None:
    """What comes out is what went in: each half once, alone or joined, and others in order."""
    found = paired(*changes, size=size)
    assert sorted((h for c in found for h in halves(c)), key=repr) == sorted(changes, key=repr)
    assert [c for c in found if c.op == "insert"] == [c for c in changes if c.op == "insert"]


@given(changes=CHANGES, size=st.integers(1, 5))
def test_at_most_so_many_wait(changes: list[cw.Change], size: int) -> None:
    """Whatever comes, never more halves wait than asked for."""
    taken = given_out = 0

    def source() -> Iterator[cw.Change]:
        nonlocal taken
        for one in changes:
            assert taken - given_out <= size
            taken += 1
            yield one

    for one in cw.pair(source(), size=size):
        given_out += len(list(halves(one)))


@given(seed=st.randoms(use_true_random=False), count=st.integers(0, 20))
def test_any_interleaving_is_joined(seed: random.Random, count: int) -> None:
    """With room for all, every update is joined, in whatever order the halves come."""
    changes = [make(number) for number in range(count) for make in (before, after)]
    seed.shuffle(changes)
    found = paired(*changes)
    assert len(found) == count
    assert all(c.before is not None and c.after is not None for c in found)
