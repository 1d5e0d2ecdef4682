"""Each effect once, whatever ends the query, and wherever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException
from tests.runtime.engines.stream.faults import STEPS, crash, ending_at
from tests.runtime.engines.stream.streams import Stream, stream
from tests.samples import mixed_messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[4]
SINKS = ["parquet"]


@pytest.mark.parametrize("sink", SINKS)
def test_a_crash_at_any_step_has_no_effect(spark: SparkSession, tmp_path: Path, sink: str) -> None:
    """Every batch ends once, each at another step; in the end each element is there once."""
    made = Stream(tmp_path, sink)
    for step in STEPS:
        made.send(mixed_messages())
        with (
            ending_at(step, sink, crash),
            pytest.raises(StreamingQueryException, match="CrashError"),
        ):
            made.land(spark)
    made.land(spark)
    assert made.landed(spark) == made.expected()


@pytest.mark.parametrize("sink", SINKS)
def test_a_batch_that_was_written_whole_is_not_written_twice(
    spark: SparkSession, tmp_path: Path, sink: str
) -> None:
    """A batch that Spark does not know to be committed is done again, and changes nothing."""
    made = stream(tmp_path, 2, sink)
    made.land(spark)
    (last,) = (tmp_path / "checkpoint" / "commits").glob("1")
    last.unlink()
    lines: list[str] = []
    made.land(spark, notice=lines.append)
    assert [line.partition(":")[0] for line in lines] == ["batch 1"]
    assert made.landed(spark) == made.expected()


@pytest.mark.parametrize("sink", SINKS)
def test_a_killed_driver_loses_nothing(spark: SparkSession, tmp_path: Path, sink: str) -> None:
    """A process that ends between two tables leaves a batch that the next process completes."""
    made = stream(tmp_path, 2, sink)
    program = ["-m", "tests.runtime.engines.stream.faults", str(tmp_path), sink, "after controls"]
    done = subprocess.run(
        [sys.executable, *program],
        check=False,
        capture_output=True,
        cwd=ROOT,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 9, done.stderr.decode()
    assert not list((tmp_path / "checkpoint" / "commits").glob("[0-9]*"))
    made.land(spark)
    assert made.landed(spark) == made.expected()


@pytest.mark.parametrize("sink", SINKS)
def test_a_new_checkpoint_does_not_meet_old_batches(
    spark: SparkSession, tmp_path: Path, sink: str
) -> None:
    """With a new checkpoint everything lands again beside what is there, nothing is left out."""
    made = stream(tmp_path, 2, sink)
    made.land(spark)
    rmtree(tmp_path / "checkpoint")
    made.land(spark)
    twice = {name: rows + rows for name, rows in made.expected().items()}
    assert made.landed(spark) == twice


def test_readers_of_parquet_see_whole_batches_only(spark: SparkSession, tmp_path: Path) -> None:
    """A batch is in a folder of its own, and while it is written no file of it can be seen."""
    made = stream(tmp_path, 2)
    made.land(spark)
    folders = sorted(path.name for path in (tmp_path / "change_log").glob("_query=*/*"))
    assert folders == ["_batch=0", "_batch=1"]
    rows = made.output(spark, "change_log").groupBy("_batch").count().collect()
    assert {row["_batch"]: row["count"] for row in rows} == {0: 9, 1: 9}
