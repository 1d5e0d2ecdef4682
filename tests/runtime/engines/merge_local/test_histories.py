"""Drawn histories without Spark: late, doubled, deleted, moved, patched, and cut anywhere."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.tables.histories import (
    deliveries,
    drawn_of,
    halves,
    histories,
    in_tables,
    of_history,
)
from tests.runtime.tables.model import tables_of

from changewire.tables import PositionedChange

BATCHES = 5


def cut(number: int) -> list[list[PositionedChange]]:
    """Draw histories, and cut all that they deliver into batches, wherever that is.

    Each has partitions of its own: a log has a position once.
    """
    images = ("full", "full", "patch", "keys")
    some = drawn_of(number, histories(images).flatmap(deliveries))
    found: list[list[PositionedChange]] = [[] for _ in range(BATCHES)]
    for which, delivery in enumerate(some):
        for i, batch in enumerate(delivery):
            own = in_tables(batch, {}, which)
            found[i % BATCHES] += [of_history(which, placed) for placed in own]
    for which, updates in enumerate(drawn_of(number, halves()), number):
        for placed in in_tables(later(updates, 100 * which), {}, which):
            for _ in range(random.randint(0, 2)):  # noqa: S311 - lost, once or doubled
                found[random.randrange(BATCHES)].append(of_history(which, placed))  # noqa: S311
    return found


def later(updates: list[PositionedChange], number: int) -> list[PositionedChange]:
    """Return updates whose sequences are greater: both images of one have a sequence of its own."""
    found = []
    for one in updates:
        sequence = one.change.sequence
        assert sequence is not None
        greater = replace(sequence, major=sequence.major + number)
        found.append(replace(one, change=replace(one.change, sequence=greater)))
    return found


@pytest.mark.parametrize("deletes", ["remove", "flag"])
def test_tables_end_as_the_model_says(tmp_path: Path, deletes: str) -> None:
    """Tables depend on the set of their changes alone, whatever the batches and runs."""
    lake = Lake(tmp_path)
    batches = cut(40)
    lake.apply(*batches[:2], deletes=deletes)
    lake.apply(*batches[2:], deletes=deletes)
    sent = [one for batch in batches for one in batch]
    assert lake.content() == tables_of(sent, befores_wait=True)
    assert len(lake.log("change")) == len({one.position for one in sent})
