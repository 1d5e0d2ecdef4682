"""In the driver, in tasks and by Spark's functions, batches do what delta-rs and memory do."""

from __future__ import annotations

from collections import Counter
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pytest
from tests.runtime.engines.apply.lake import Lake, lake_in
from tests.runtime.engines.apply.ways import DRIVER, SPARK, WAYS, decided
from tests.runtime.engines.delta.lake import Lake as DeltaLake
from tests.runtime.engines.halves import halved
from tests.runtime.engines.same_tables import assert_same
from tests.runtime.tables.histories import (
    applied,
    batches_of,
    change,
    content,
    in_tables,
    placed,
    truncate,
    with_keys,
)
from tests.runtime.tables.model import tables_of

from changewire.engines.spark.apply import decisions, table_effects
from changewire.tables import MemoryTables, PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORIES = 100
MANY_HISTORIES = 1000
DRAWN = {"t": "x", "u": "x"}
"""Table of drawn histories, by what theirs are called: few tables take less time."""
TRACED = 20

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
CHOSEN = (FIRST, IN_ORDER, OUT_OF_ORDER, [*LOADS, *OUT_OF_ORDER])
"""The third one comes again as it was."""


def drawn_batches(number: int) -> list[list[PositionedChange]]:
    """Return drawn histories in three batches, a truncate and a delete of no table among them."""
    batches = [in_tables(batch, DRAWN) for batch in batches_of(number, 3)]
    batches[1] += placed(truncate(20, "x"), truncate(None, "x"), start=10_000)
    batches[2] += placed(change("delete", "1-1", 30, table=None), start=20_000)
    return batches


def everything() -> list[list[PositionedChange]]:
    """Return batches of chosen changes, of halves of updates and of drawn histories."""
    chosen = [[with_keys(one, lambda key: 100 + key) for one in batch] for batch in CHOSEN]
    halves = [in_tables(batch, {}, partition=1) for batch in halved()]  # few tables, as above
    parts = zip_longest(chosen, halves, drawn_batches(HISTORIES), fillvalue=())
    return [[*chain.from_iterable(part)] for part in parts]


def of_tables(batches: list[list[PositionedChange]], *names: str | None) -> list[PositionedChange]:
    """Return the changes of some tables that have an order."""
    sent = (one for batch in batches for one in batch if one.change.source.table in names)
    return [one for one in sent if one.change.op != "truncate" or one.change.sequence]


def told(spark: SparkSession, lake: Lake, way: str) -> list[Counter[str]]:
    """Apply what was sent; return what became of the changes of each batch."""
    lines: list[str] = []
    with decided(way):
        lake.apply(spark, metrics=lines.append)
    return [Counter(msgspec.json.decode(line)["tables"]) for line in lines]


def test_each_way_comes_to_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Rows, tombstones, metadata, columns and counts are the same, and as the model says."""
    batches = everything()
    rust = DeltaLake(tmp_path / "rust", applies_truncates=True)
    for batch in batches:
        rust.apply(batch, batch_size=100_000)
    counts: dict[str, list[Counter[str]]] = {}
    lakes = {way: Lake(tmp_path / way, applies_truncates=True, log="parquet") for way in WAYS}
    for way, lake in lakes.items():
        for batch in batches:
            lake.send(batch)
        counts[way] = told(spark, lake, way)
        assert_same(lake.folder, rust.folder)
        assert sum(counts[way], Counter()) == rust.counts
    assert [*counts.values()] == [counts[DRIVER]] * len(WAYS)
    found = rust.content()
    memory = MemoryTables()
    for batch in batches:
        applied(batch, tables=memory, apply_as_truncates=True)
    assert found == content(memory)
    assert found["x"] == tables_of(of_tables(batches, "x", None), truncates=True)["x"]
    keys = {one.change.key["id"] for one in of_tables(batches, "x")[:TRACED] if one.change.key}
    assert {key: lakes[SPARK].verdict("x", key) for key in keys} == dict.fromkeys(keys, "same")


@pytest.mark.parametrize(
    ("sink", "number", "way"),
    [
        *(pytest.param("delta", MANY_HISTORIES, way, marks=pytest.mark.long) for way in WAYS),
        pytest.param("iceberg", HISTORIES, DRIVER, marks=pytest.mark.matrix),
    ],
)
def test_tables_end_as_the_model_says(
    spark: SparkSession, tmp_path: Path, sink: str, number: int, way: str
) -> None:
    """Histories with moves, deletes, patches and duplicates, delivered in any order, converge."""
    lake, batches = lake_in(sink, spark, tmp_path, applies_truncates=True), drawn_batches(number)
    for batch in batches:
        lake.send(batch)
    told(spark, lake, way)
    assert lake.content(spark) == tables_of(of_tables(batches, "x", None), truncates=True)


def test_python_decides_on_what_is_not_simple(spark: SparkSession, tmp_path: Path) -> None:
    """Where all changes are simple it is not asked; where some are not, only for their keys."""
    lake = Lake(tmp_path, log="parquet")
    lake.send(FIRST)
    lake.send(IN_ORDER)
    with patch.object(table_effects, "decided_in_python", side_effect=AssertionError):
        assert told(spark, lake, SPARK) == [{"applied": 8}, {"applied": 6}]
    lake.send(OUT_OF_ORDER)
    decided, asked = decisions.decided_in_python, list[set[str]]()

    def heard(effects: Any, *arguments: Any, **options: Any) -> Any:
        asked.append({row["key"] for row in effects.select("key").distinct().collect()})
        return decided(effects, *arguments, **options)

    with patch.object(table_effects, "decided_in_python", heard):
        told(spark, lake, SPARK)
    assert asked == [{f'{{"id":{key}}}' for key in (4, 5, 6, 7, 32, 33)}]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_older_than_a_delete_stays_away(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """Also where a batch leaves nothing but a delete, of a key that needs a look or of another."""
    lake = Lake(tmp_path, log="parquet")
    first = placed(change(key=1, table="t", a=1), change(key=1, table="u", a=1))
    deletes = placed(
        change("update", 1, 20, table="t", image="patch", a=2),
        change("delete", 1, 30, table="t"),
        change("delete", 1, 30, table="u"),
        start=10,
    )
    late = placed(
        change(key=1, sequence=25, table="t", a=3),
        change(key=1, sequence=25, table="u", a=3),
        start=20,
    )
    for batch in (first, deletes, late):
        lake.send(batch)
    assert told(spark, lake, way) == [{"applied": 2}, {"applied": 3}, {"stale": 2}]
    assert lake.content(spark) == {"t": {}, "u": {}}
