"""Batches come again, in part or as a whole; rows are read again from what tables keep."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.runtime.tables.histories import (
    applied,
    change,
    content,
    deliveries,
    histories,
    placed,
    steady,
)
from tests.runtime.tables.histories import changes as drawn
from tests.runtime.tables.model import filled, tables_of

from changewire.tables import MemoryTables, PositionedChange
from changewire.tables.row_state import row_state, state_from

ANY = ("full", "patch", "keys")


def read_again(tables: MemoryTables) -> MemoryTables:
    """Return tables made of what is stored of them: columns of rows, and their metadata."""
    for table in tables.tables.values():
        for identity, entry in table.entries.items():
            state = state_from(row_state(entry.state), entry.state.values)
            table.entries[identity] = replace(entry, state=state)
    return tables


@steady
@given(st.data())
def test_restarts_from_what_is_stored(data: Any) -> None:
    """A batch that is repeated after a restart, in part applied before, changes nothing."""
    history = data.draw(histories(ANY))
    tables = MemoryTables()
    for batch in data.draw(deliveries(history)):
        part = batch[: data.draw(st.integers(0, len(batch)))]
        applied(part, tables=tables)
        tables = read_again(tables)
        applied(batch, tables=tables)
    assert filled(content(tables)) == filled(tables_of(history, befores_wait=True))


@steady
@given(histories(ANY, is_distinct=False), st.data())
def test_a_batch_at_once_is_its_changes_one_by_one(
    history: list[PositionedChange], data: Any
) -> None:
    """A batch does what its changes do, and keeps of each row what they keep."""
    start = data.draw(st.integers(0, len(history)))
    tables, _ = applied(history[:start])
    others, _ = applied(history[:start])
    batch = sorted(history[start:], key=lambda one: one.position)
    applied(batch, tables=tables)
    applied(*([one] for one in batch), tables=others)
    assert tables.tables == others.tables
    assert filled(content(tables)) == filled(tables_of(history, befores_wait=True))


@st.composite
def partitions(draw: Any) -> list[PositionedChange]:
    """Draw one partition in which about every third change lacks its sequence."""
    numbers = draw(st.lists(st.integers(1, 9) | st.none(), max_size=10))
    found = [draw(drawn(number and (number, 1), ("full",))) for number in numbers]
    return placed(*found)


def inherited(history: Sequence[PositionedChange]) -> list[PositionedChange]:
    """Return a partition with the sequences that the rule gives: the greatest one before.

    A before image alone waits, and gives none.
    """
    newest: dict[Any, Any] = {}
    found = []
    for one in history:
        change, place = one.change, (one.change.source.table, str(one.change.key))
        known = change.sequence
        best = newest.get(place)
        if known is None or (
            best is not None and (best.major, best.minor) > (known.major, known.minor)
        ):
            newest[place] = best
        elif change.op != "update" or change.after is not None:
            newest[place] = known
        found.append(replace(one, change=replace(change, sequence=known or best)))
    return found


@steady
@given(partitions(), st.data())
def test_missing_sequences_in_one_partition(history: list[PositionedChange], data: Any) -> None:
    """Where a key's changes stand in one partition, in their order, batches make no difference."""
    assume(all(one.change.before_key is None for one in history))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(history)), max_size=3)))
    edges = [0, *cuts, len(history)]
    batches = [history[max(0, a - 2) : b] for a, b in pairwise(edges)]
    tables, _ = applied(*batches)
    assert filled(content(tables)) == filled(tables_of(inherited(history), befores_wait=True))


def test_the_limit_of_missing_sequences() -> None:
    """A key in two partitions: what a change inherits depends on the batch that it comes in."""
    first = placed(change(sequence=10, a=1), change(sequence=None, a=2), partition=1)
    other = placed(change(sequence=12, a=3), partition=0)
    together, _ = applied([*first, *other])
    apart, _ = applied([*first[:1], *other], first[1:])
    assert [row["a"] for row in together.tables["`t`"].content()] == [3]
    assert [row["a"] for row in apart.tables["`t`"].content()] == [2]
