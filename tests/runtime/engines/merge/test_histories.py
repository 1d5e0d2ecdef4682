"""Drawn histories: late, doubled, deleted, moved, patched, and cut into batches anywhere."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.runtime.engines.merge.lake import lake_in
from tests.runtime.tables.histories import deliveries, drawn_of, halves, histories, of_history
from tests.runtime.tables.model import tables_of

from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCHES = 5


def cut(number: int, batches: int = BATCHES) -> list[list[PositionedChange]]:
    """Draw histories, and cut all that they deliver into batches, wherever that is."""
    images = ("full", "full", "patch", "keys")
    some = drawn_of(number, histories(images).flatmap(deliveries))
    found: list[list[PositionedChange]] = [[] for _ in range(batches)]
    for which, delivery in enumerate(some):
        for i, batch in enumerate(delivery):
            found[i % batches] += [of_history(which, placed) for placed in batch]
    for which, updates in enumerate(drawn_of(number, halves()), number):
        for placed in updates:
            for _ in range(random.randint(0, 2)):  # noqa: S311 - lost, once or doubled
                found[random.randrange(batches)].append(apart(which, placed))  # noqa: S311
    return found


def apart(number: int, placed: PositionedChange) -> PositionedChange:
    """Return half of an update with keys and a sequence that no other history has."""
    own = of_history(number, placed)
    assert own.change.sequence is not None
    sequence = replace(own.change.sequence, major=own.change.sequence.major + 100 * number)
    return replace(own, change=replace(own.change, sequence=sequence))


MANY = 1000
EVERY = [("delta", "remove"), ("delta", "flag"), ("iceberg", "remove")]


@pytest.mark.long
@pytest.mark.parametrize(("table_format", "deletes"), EVERY)
def test_tables_of_many_histories(
    spark: SparkSession, tmp_path: Path, table_format: str, deletes: str
) -> None:
    """Tables of a thousand histories are those of the model, in each format, and flagged."""
    lake = lake_in(table_format, spark, tmp_path, lands_in_spark=True)
    batches = cut(MANY)
    for at, batch in enumerate(batches):
        lake.send(batch)
        if at in {1, BATCHES - 1}:
            lake.apply(spark, deletes=deletes)
    sent = [one for batch in batches for one in batch]
    assert lake.content(spark) == tables_of(sent, befores_wait=True)
