"""The examples of the page of tables, in any order and any batches."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docs.making.histories import histories
from tests.runtime.engines.merge.cases import Batches, delivered, deliveries
from tests.runtime.engines.merge.lake import lake_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
