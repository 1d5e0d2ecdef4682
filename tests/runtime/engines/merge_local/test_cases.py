"""The examples of the page of tables, in any order and any batches, without Spark."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from docs.making.histories import histories
from tests.runtime.engines.merge.cases import Batches, delivered, deliveries
from tests.runtime.engines.merge_local.lake import Lake


@pytest.mark.parametrize("deletes", ["remove", "flag"])
def test_examples_end_as_the_page_says(tmp_path: Path, deletes: str) -> None:
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
    lake = Lake(tmp_path)
    together = [
        [one for part in batch for one in part] for batch in zip_longest(*sent, fillvalue=())
    ]
    lake.apply(*together, deletes=deletes, apply_truncates=True)
    rows = [row for table in lake.content().values() for row in table.values()]
    assert {row["id"]: row for row in rows} == expected
