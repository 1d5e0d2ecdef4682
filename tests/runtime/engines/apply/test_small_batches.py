"""Small batches take few jobs, and what spares the look at a table never hides what it holds."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pytest
from pyspark.errors import StreamingQueryException
from tests.runtime.engines.apply.faults import ending_at
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.ends import crash
from tests.runtime.tables.histories import (
    change,
    drawn,
    in_tables,
    of_history,
    placed,
)
from tests.runtime.tables.model import tables_of

import changewire.spark as cws
from changewire.engines.kept import SUFFIX
from changewire.engines.spark.apply import batch as batches
from changewire.engines.spark.apply import decisions, merge, states
from changewire.engines.spark.apply.tables import held_rows
from changewire.engines.spark.apply.writing import write_rows
from changewire.tables import PositionedChange
from changewire.tables.names import safe_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = ("t", "u")
MOST_JOBS = 16
"""Of a batch of 40 changes into two tables, of which none is late; it was 35 to 41."""

HISTORIES, BATCHES = 30, 4


def batch(number: int) -> list[PositionedChange]:
    """Return 40 changes of two tables, each newer than those of the batch before."""
    found = []
    for i in range(40):
        sequence, table = 40 * number + i + 1, TABLES[i % 2]
        if i % 10 > 7:
            found.append(change("delete", i - 8, sequence, table=table))
        else:
            found.append(change(key=(7 * i + 3 * number) % 60, sequence=sequence, table=table, a=i))
    return placed(*found, start=100 * number)


def applied(spark: SparkSession, lake: Lake) -> tuple[dict[str, Any], int]:
    """Apply what was sent; return the line of the batch, and how many jobs Spark had."""
    lines: list[str] = []
    query = lake.start(spark, metrics=lines.append)
    cws.await_end(query)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(str(query.runId))
    (line,) = map(msgspec.json.decode, lines)
    return line, len(jobs)


def test_a_small_batch_takes_few_jobs(spark: SparkSession, tmp_path: Path) -> None:
    """Its changes are collected by one; log, tombstones and MERGE have what Delta gives them."""
    lake, sent = Lake(tmp_path), list[PositionedChange]()
    jobs = []
    for number in range(3):
        sent += batch(number)
        lake.send(batch(number))
        line, found = applied(spark, lake)
        assert line["tables"] == {"applied": 40}
        jobs.append(found)
    assert jobs[-1] <= MOST_JOBS, jobs
    assert lake.content(spark) == tables_of(sent)


def test_keys_beyond_the_mark_need_no_look(spark: SparkSession, tmp_path: Path) -> None:
    """Only keys are looked at of which a change may be late, has no sequence or is a patch."""
    lake = Lake(tmp_path, log="parquet")
    first = placed(*(change(key=key, sequence=10, a=1) for key in range(8)))
    lake.send(first)
    asked: list[set[str]] = []

    def heard(tables: Any, keys: DataFrame, **options: Any) -> Any:
        asked.append({row["key"] for row in keys.collect()})
        return held_rows(tables, keys, **options)

    second = placed(
        change(key=0, sequence=11, a=2),
        change("delete", 1, 12),
        change("delete", 90, 12),  # of no row
        change(key=2, sequence=10, a=2),  # as new as the mark
        change(key=3, sequence=None, a=2),
        change(key=4, sequence=20, image="patch", b=2),
        change(key=5, sequence=13, image="patch", b=2),
        change(key=5, sequence=12, a=3),
        change(key=50, sequence=9, a=1),
        start=10,
    )
    with patch.object(decisions, "held_rows", heard):
        line, _ = applied(spark, lake)
        assert (line["tables"], line["keys"]) == ({"applied": 8}, {"beyond_mark": 8})
        assert asked == []
        lake.send(second)
        with another_process():
            line, _ = applied(spark, lake)
    assert asked == [{f'{{"id":{key}}}' for key in (2, 3, 4, 50)}]
    assert line["keys"] == {"beyond_mark": 4, "looked_up": 4}
    assert line["tables"]["applied"] == len(second)
    expected = tables_of([*first, *second])
    expected["t"][(("id", 3),)]["a"] = 2  # without a sequence it takes that of its row
    assert lake.content(spark) == expected


def restarted(lake: Lake, tables: str = "") -> None:
    """Forget what the process knows of tables whose names begin so; another one knows nothing."""
    for key in [*states.STATES]:
        if key[1].startswith(f"delta.`{lake.folder}/{safe_name(tables)}"):
            states.forget_state(key)


@contextmanager
def another_process() -> Generator[None, None, None]:
    """Let nothing be known of tables, and leave nothing behind that is."""
    with patch.dict(states.STATES, clear=True):
        yield


def test_tombstones_are_written_before_rows(spark: SparkSession, tmp_path: Path) -> None:
    """So a row is gone only if its tombstone is there, whenever a process ends."""
    lake = Lake(tmp_path, log="parquet")
    lake.send(placed(change(key=1, a=1), change(key=2, a=1)))
    lake.apply(spark)
    lake.send(placed(change("delete", 1, 5), start=10))
    with (
        ending_at("before rows", crash),
        pytest.raises(StreamingQueryException, match="CrashError"),
    ):
        lake.apply(spark)
    graves = spark.read.format("delta").load(f"{lake.folder}/t{SUFFIX}").collect()
    assert [row["key"] for row in graves] == ['{"id":1}']
    assert sorted(row["id"] for row in lake.rows(spark, "t")) == [1, 2]


def test_restarted_processes_come_to_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Histories in small batches, with and without what the process knew, end as the model says."""
    lake, sent = Lake(tmp_path, log="parquet"), list[PositionedChange]()
    batches: list[list[PositionedChange]] = [[] for _ in range(BATCHES)]
    for which, delivery in enumerate(drawn(HISTORIES)):
        for i, part in enumerate(delivery):
            found = in_tables([of_history(which, one) for one in part], {"u": "t"})
            batches[(which + i) % BATCHES] += found
            sent += found
    for number, part in enumerate(batches):
        lake.send(part)
        if number % 2:
            restarted(lake)
        lake.apply(spark)
    assert lake.content(spark) == tables_of(sent)


def test_long_rows_are_not_collected(spark: SparkSession, tmp_path: Path) -> None:
    """A batch of few rows with long texts is decided on in tasks."""
    lake = Lake(tmp_path, log="parquet")
    sent = placed(change(key=1, a="x" * 40_000), change(key=2, a="y"))
    lake.send(sent)
    with patch.object(batches, "small_batch", side_effect=AssertionError):
        lake.apply(spark)
    assert lake.content(spark) == tables_of(sent)


def test_many_tables_are_written_side_by_side(spark: SparkSession, tmp_path: Path) -> None:
    """What one of them raises ends the batch, which is retried as a whole."""
    lake = Lake(tmp_path, log="parquet")
    sent = placed(*(change(key=1, table=f"t{i}", a=i) for i in range(3)))
    lake.send(sent)
    failed = list[str]()

    def once_faulty(changed: DataFrame, tables: Any, **options: Any) -> Any:
        if tables.target.endswith("t1") and not failed:
            failed.append(tables.target)
            raise ZeroDivisionError
        return write_rows(changed, tables, **options)

    with patch.object(merge, "write_rows", once_faulty):
        with pytest.raises(Exception, match="ZeroDivisionError"):
            lake.apply(spark)
        lake.apply(spark)
    assert lake.content(spark) == tables_of(sent)
    assert cws.session() is spark
