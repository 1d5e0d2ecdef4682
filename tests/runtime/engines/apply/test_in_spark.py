"""What Spark decides alone is what Python decides."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.apply.ways import DRIVER, SPARK, TASKS, WAYS, decided
from tests.runtime.tables.histories import change, placed
from tests.runtime.tables.model import tables_of

from changewire.engines.spark.apply import decisions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = placed(*(change(key=key, a=1) for key in range(8)))
IN_ORDER = placed(
    change(key=0, sequence=2, a=2),
    change(key=0, sequence=3, a=3),
    change("delete", 1, 2),
    change("delete", 20, 2),
    change("update", 21, 2, old=2, before={"id": 2}, a=2),
    start=10,
)
OUT_OF_ORDER = placed(
    change(key=0, sequence=2, a=2),  # stale in the table
    change(key=1, sequence=1, a=9),  # stale by a tombstone
    change(key=3, sequence=5, a=5),
    change(key=3, sequence=4, a=4),  # stale in the batch
    change(key=30, sequence=5, a=5),
    change(key=30, sequence=5, a=5),  # a duplicate in the batch
    change("delete", 31, 5),
    change("delete", 31, 5),  # of a delete
    change(key=31, sequence=4, a=4),
    change(key=32, sequence=5, a=5),
    change(key=32, sequence=4, a=4),
    change(key=32, sequence=5, a=5),  # a duplicate, but not of the one before
    change(key=33, sequence=5, a=5),
    change("delete", 33, 5),  # another one of the same sequence
    change(key=4, sequence=1, a=1),  # a duplicate
    change(key=5, sequence=1, a=2),  # other content, same sequence
    change(key=6, sequence=None, a=2),
    change("update", 7, 3, image="patch", b=2),
    change(key=22, sequence=1, a=1),
    change("delete", 20, 3),
    start=20,
)
LOADS = placed(
    change(key=40, sequence=-1, a=1),
    change(key=41, sequence=-1, a=1),
    change(key=41, sequence=2, a=2),
    change(key=40, sequence=2, a=2),
    change(key=40, sequence=-1, a=3),  # stale, and of an initial load
    change(key=0, sequence=-1, a=3),  # the same in the table
    start=60,
)
BATCHES = (FIRST, IN_ORDER, OUT_OF_ORDER, LOADS, OUT_OF_ORDER)
"""The last one comes again as it was."""


def told(spark: SparkSession, lake: Lake, way: str) -> list[dict[str, int]]:
    """Apply what was sent; return what became of the changes of each batch."""
    lines: list[str] = []
    with decided(way):
        lake.apply(spark, metrics=lines.append)
    return [msgspec.json.decode(line)["tables"] for line in lines]


def test_counts_and_rows_are_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Whole rows, deletes, late ones, ties, duplicates and patches come to the same each way."""
    lakes = {way: Lake(tmp_path / way) for way in WAYS}
    found: dict[str, Any] = {}
    for way, lake in lakes.items():
        for batch in BATCHES:
            lake.send(batch)
        found[way] = told(spark, lake, way), lake.content(spark)
    assert found[DRIVER] == found[TASKS] == found[SPARK]
    expected = tables_of([*chain.from_iterable(BATCHES)])
    expected["t"][(("id", 6),)]["a"] = 2  # without a sequence it takes that of its row
    assert found[DRIVER][1] == expected


def test_python_decides_on_what_is_not_simple(spark: SparkSession, tmp_path: Path) -> None:
    """Where all changes are simple it is not asked; where some are not, only for their keys."""
    lake = Lake(tmp_path)
    lake.send(FIRST)
    lake.send(IN_ORDER)
    with patch.object(decisions, "decided_in_python", side_effect=AssertionError):
        assert told(spark, lake, SPARK) == [{"applied": 8}, {"applied": 6}]
    lake.send(OUT_OF_ORDER)
    decided, asked = decisions.decided_in_python, list[set[str]]()

    def heard(effects: Any, *arguments: Any, **options: Any) -> Any:
        asked.append({row["key"] for row in effects.select("key").distinct().collect()})
        return decided(effects, *arguments, **options)

    with patch.object(decisions, "decided_in_python", heard):
        told(spark, lake, SPARK)
    assert asked == [{f'{{"id":{key}}}' for key in (4, 5, 6, 7, 32, 33)}]
