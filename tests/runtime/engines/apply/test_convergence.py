"""Tables in Spark end as the model says, whatever was delivered how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from msgspec.structs import replace
from tests.runtime.engines.apply.lake import lake_in
from tests.runtime.engines.apply.ways import DRIVER, WAYS, decided
from tests.runtime.tables.histories import deliveries, histories
from tests.runtime.tables.model import tables_of

from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORIES = 100
BATCHES = 3
TRACED = 20
IMAGES = ("full", "full", "patch", "keys")


def drawn(number: int, images: Sequence[str] = IMAGES) -> list[list[list[PositionedChange]]]:
    """Draw deliveries of histories: each a list of batches."""
    found: list[list[list[PositionedChange]]] = []

    @settings(max_examples=number, phases=[Phase.generate], database=None, deadline=None)
    @given(histories(images).flatmap(deliveries))
    def collect(batches: list[list[PositionedChange]]) -> None:
        found.append(batches)

    collect()
    return found


def of_history(number: int, placed: PositionedChange) -> PositionedChange:
    """Return a change with keys that no other history has."""
    change = placed.change

    def own(row: Any) -> Any:
        return row and {**row, "id": f"{number}-{row['id']}"} if row and "id" in row else row

    images = {name: own(getattr(change, name)) for name in ("key", "before_key", "before", "after")}
    return replace(placed, change=replace(change, **images))


@pytest.mark.parametrize(
    ("sink", "number", "way"),
    [
        *(("delta", HISTORIES, way) for way in WAYS),
        *(pytest.param("delta", 1000, way, marks=pytest.mark.long) for way in WAYS),
        pytest.param("iceberg", HISTORIES, DRIVER, marks=pytest.mark.matrix),
    ],
)
def test_tables_end_as_the_model_says(
    spark: SparkSession, tmp_path: Path, sink: str, number: int, way: str
) -> None:
    """Histories with moves, deletes, patches and duplicates, delivered in any order, converge.

    Small batches are decided in the driver, large ones in tasks, and by Spark if they are in order.
    """
    lake, sent = lake_in(sink, spark, tmp_path), []
    batches: list[list[PositionedChange]] = [[] for _ in range(BATCHES)]
    for which, delivery in enumerate(drawn(number)):
        for i, batch in enumerate(delivery):
            found = [of_history(which, placed) for placed in batch]
            batches[i % BATCHES] += found
            sent += found
    for batch in batches:
        lake.send(batch)
    with decided(way):
        lake.apply(spark)
    assert lake.content(spark) == tables_of(sent)
    if sink == "iceberg":  # its log cannot be read without Spark
        return
    keys = {one.change.key["id"] for one in batches[0][:TRACED] if one.change.key}
    traced = {key: lake.verdict("t", key) for key in keys if is_sent("t", key, sent)}
    assert set(traced.values()) == {"same"}, traced


def is_sent(table: str, key: str, sent: list[PositionedChange]) -> bool:
    """Whether a change of a key was sent to a table."""
    changes = [one.change for one in sent if one.change.source.table == table]
    return any({"id": key} in (one.key, one.before_key) for one in changes)
