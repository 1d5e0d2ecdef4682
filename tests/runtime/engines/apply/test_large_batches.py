"""Large batches take few jobs, and their tables are those that small batches make."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from benchmarks.streams.history import history
from benchmarks.streams.jobs import FORMAT, ROW
from deltalake import DeltaTable
from pyspark.sql.types import LongType, StructField, StructType
from tests.runtime.engines.apply.faults import ending_at
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.apply.ways import DRIVER, SHARED, decided
from tests.runtime.tables.histories import change, placed
from tests.runtime.tables.model import tables_of

import changewire.spark as cws
from changewire.engines.kept import SUFFIX

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCHES, SIZE, KEYS = 4, 300, 400
MOST_JOBS = 28
"""Of a batch of which some keys need a look; it was 37 to 56."""


def sent(moving: Collection[int] = range(BATCHES)) -> list[list[tuple[Any, ...]]]:
    """Return batches of records: deletes, doubled and broken messages, and late ones.

    Args:
        moving: Batches of which some changes give their row another key.
    """
    random = Random(3)  # noqa: S311 - the same in each run
    found = [*history(BATCHES * SIZE, lambda draw: draw.randrange(KEYS))]
    for first in range(SIZE, BATCHES * SIZE, SIZE):
        for i, late in enumerate(random.sample(range(first - SIZE, first), 9)):
            found[late], found[first + i] = found[first + i], found[late]
    records = [
        (moved(value, i) if i % 20 == 0 and i // SIZE in moving else value, "t", partition, i)
        for i, (partition, _, value) in enumerate(found)
    ]
    return [records[first : first + SIZE] for first in range(0, len(records), SIZE)]


def moved(value: bytes, number: int) -> bytes:
    """Return an update that gives a row another key, which is decoded into two effects."""
    if b'"op":"UPDATE_AFTER"' not in value:
        return value
    return value.replace(b'"before":null', b'"before":{"dataColumn":{"id":%d}}' % (KEYS + number))


def landed(
    spark: SparkSession, lake: Lake, way: str, *batches: list[tuple[Any, ...]]
) -> tuple[list[dict[str, Any]], int]:
    """Apply batches into typed columns; return their lines, and how many jobs Spark had."""
    for batch in batches:
        lake.send_records(batch)
    lines: list[str] = []
    places: dict[str, Any] = lake.outputs()
    with decided(way):
        query = cws.apply_changes(
            lake.read(spark),
            format=FORMAT,
            rows=ROW,
            target=lake.template,
            checkpoint=str(lake.root / "checkpoint"),
            trigger={"availableNow": True},
            metrics=lines.append,
            **places,
        )
        cws.await_end(query)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(str(query.runId))
    return [msgspec.json.decode(line) for line in lines], len(jobs)


def rows(folder: Path) -> list[str]:
    """Return the rows of a table, or its tombstones, each once; when is not compared."""
    found = DeltaTable(str(folder)).to_pyarrow_table().to_pylist()
    return sorted({repr({**row, "since": None}) for row in found})


def test_large_batches_do_what_small_ones_do(spark: SparkSession, tmp_path: Path) -> None:
    """Rows, tombstones and counts are the same, and keys are looked at only if they need it.

    Most effects have the rows that were made with them, and some are made of their text.
    """
    small, large = (Lake(tmp_path / name) for name in ("small", "large"))
    jobs, line = list[int](), dict[str, Any]()
    for batch in sent():
        (expected,), _ = landed(spark, small, DRIVER, batch)
        (line,), number = landed(spark, large, SHARED, batch)
        for name in ("tables", "changes", "dead_letters", "by_error_code"):
            assert line.get(name) == expected.get(name), name
        jobs.append(number)
    assert line["keys"]["beyond_mark"] > line["keys"]["looked_up"] > 0
    assert jobs[-1] <= MOST_JOBS, jobs
    for name in ("customers", f"customers{SUFFIX}"):
        found = rows(large.folder / name)
        assert len(found) > KEYS / 10
        assert found == rows(small.folder / name)


@pytest.mark.parametrize("way", [DRIVER, SHARED])
def test_the_newest_change_of_a_key_decides_on_a_look(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """What is late beside it is compared with it, and not with the table."""
    lake = Lake(tmp_path, log="parquet")
    first = placed(*(change(key=key, sequence=10, a=1) for key in range(4)))
    second = placed(
        change(key=0, sequence=9, a=9),
        change(key=0, sequence=11, a=2),
        change("delete", 1, 10),
        change("delete", 1, 12),
        change(key=2, sequence=13, a=2),
        change(key=2, sequence=9, a=3),
        start=10,
    )
    lines: list[str] = []
    for batch in (first, second):
        lake.send(batch)
    with decided(way):
        lake.apply(spark, metrics=lines.append)
    _, line = map(msgspec.json.decode, lines)
    assert line["tables"] == {"applied": 5, "stale": 1}
    assert line["keys"] == {"beyond_mark": 3}
    assert lake.content(spark) == tables_of([*first, *second])


def test_columns_may_have_names_that_sql_must_quote(spark: SparkSession, tmp_path: Path) -> None:
    """Also where the driver decides on the keys of a large batch that need a look."""
    names = ("total-price", "a b", "x:int")
    row = StructType([StructField(name, LongType()) for name in ("id", *names)])
    lake = Lake(tmp_path, log="parquet", given=row)
    ones: dict[str, Any] = dict.fromkeys(names, 1)
    two: dict[str, Any] = {names[0]: 2}
    lake.send(placed(*(change(key=key, sequence=10, **ones) for key in (1, 2))))
    patched = change(key=1, sequence=11, image="changed", **two)
    lake.send(placed(patched, change(key=2, sequence=9, **two), start=10))
    with decided(SHARED):
        lake.apply(spark)
    found = spark.read.format("delta").load(str(lake.folder / "t"))
    assert sorted(tuple(one)[:4] for one in found.collect()) == [(1, 2, 1, 1), (2, 1, 1, 1)]


def test_a_batch_is_written_again_if_its_executor_is_lost(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Rows that are kept on executors alone are gone, amid a merge, and then all that they hold."""
    lake = Lake(tmp_path, log="parquet")
    first = placed(*(change(key=key, sequence=10, a=1) for key in range(4)))
    second = placed(
        *(change(key=key, sequence=11, a=2) for key in (0, 1)),
        change("delete", 2, 11),
        change(key=3, sequence=9, a=3),
        start=10,
    )
    lake.send(first)
    lake.apply(spark)
    lake.send(second)
    steps = ["before tombstones", "before rows", "after rows"]
    with decided(SHARED), ExitStack() as stack:
        for step in steps:
            stack.enter_context(ending_at(step, partial(lose_rows, spark, step, steps)))
        lake.apply(spark)
    assert not steps
    assert lake.content(spark) == tables_of([*first, *second])
    logged = spark.read.parquet(lake.outputs()["changes"])
    assert logged.count() == len([*first, *second])


def lose_rows(spark: SparkSession, step: str, left: list[str]) -> None:
    """Remove the rows of all local checkpoints, once at a step, as an executor does that ends."""
    if step not in left:
        return
    left.remove(step)
    context: Any = spark.sparkContext
    for kept in context._jsc.getPersistentRDDs().values():  # noqa: SLF001 - there is no other
        if kept.rdd().isLocallyCheckpointed():
            kept.unpersist()
