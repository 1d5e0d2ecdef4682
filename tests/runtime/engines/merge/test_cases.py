"""The examples of the page of tables, in any order and any batches."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docs.making.histories import History, change, histories
from msgspec.structs import replace
from tests.runtime.engines.merge.lake import lake_in
from tests.runtime.tables.histories import placed, with_keys

from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Batches = list[list[PositionedChange]]


def deliveries(history: History) -> dict[str, Batches]:
    """Return a history forwards and backwards, as one batch and one by one."""
    read = placed(*map(change, history.changes))
    one_by_one = [[one] for one in read]
    found = {"forwards": [read], "one by one": one_by_one}
    if all(row["sequence"] for row in history.changes):
        found |= {"backwards": [read[::-1]], "backwards one by one": one_by_one[::-1]}
    return found


def delivered(name: str, batches: Batches, number: int) -> Batches:
    """Return batches with keys, and for truncates a table, that no other delivery has."""
    table = f"truncate{number}" if "truncate" in name else "t"
    found: Batches = []
    for batch in batches:
        found.append([])
        for one in batch:
            own = with_keys(one, lambda key: f"{number}-{key}")
            source = replace(own.change.source, table=table)
            position = own.position._replace(partition=number)
            found[-1].append(
                replace(own, change=replace(own.change, source=source), position=position)
            )
    return found


@pytest.mark.parametrize(
    ("sink", "deletes"), [("delta", "remove"), ("delta", "flag"), ("iceberg", "remove")]
)
def test_examples_end_as_the_page_says(
    spark: SparkSession, tmp_path: Path, sink: str, deletes: str
) -> None:
    """Forwards, backwards, one by one and as one batch they give the rows below."""
    expected: dict[str, dict[str, Any]] = {}
    sent: list[Batches] = []
    number = 0
    for history in histories():
        for batches in deliveries(history).values():
            number += 1
            sent.append(delivered(history.name, batches, number))
            for row in history.rows:
                cells = {name: int(cell) for name, cell in row.items() if cell}
                expected[f"{number}-{cells['id']}"] = {**cells, "id": f"{number}-{cells['id']}"}
    lake = lake_in(sink, spark, tmp_path)
    for batch in zip_longest(*sent, fillvalue=()):
        lake.send([one for part in batch for one in part])
    lake.apply(spark, deletes=deletes, apply_as_truncates=True)
    rows = [row for table in lake.content(spark).values() for row in table.values()]
    assert {row["id"]: row for row in rows} == expected
