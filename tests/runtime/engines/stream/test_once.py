"""Each effect once, whatever ends the query, and wherever."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from tests.runtime.engines.ends import crash
from tests.runtime.engines.stream.faults import STEPS, ending_at
from tests.runtime.engines.stream.streams import stream
from tests.support.session import need

from changewire.engines.options import BatchId
from changewire.engines.spark.decode import BatchFunction
from changewire.engines.spark.stream.output import APPENDS, Output, append_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[4]
SINKS = ["parquet", "delta"]


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("limit", [None, "100%"])
def test_a_crash_at_any_step_has_no_effect(
    spark: SparkSession, tmp_path: Path, sink: str, limit: str | None
) -> None:
    """A batch ends at one step after the other; in the end each of its elements is there once.

    Without a limit it is not counted first.
    """
    made = stream(tmp_path, 1, sink)
    for step in STEPS[limit is None :]:
        with (
            ending_at(step, sink, crash),
            pytest.raises(StreamingQueryException, match="CrashError"),
        ):
            made.land(spark, max_dead_letters=limit)
    made.land(spark, max_dead_letters=limit)
    assert made.landed(spark) == made.expected()


def test_a_killed_driver_loses_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """A process that ends between two tables leaves a batch that the next process completes."""
    made = stream(tmp_path, 1, "delta")
    faults = "tests.runtime.engines.stream.faults"
    program = ["-m", faults, str(tmp_path), made.sink, "after controls"]
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
    made = stream(tmp_path, 1, sink)
    made.land(spark)
    rmtree(tmp_path / "checkpoint")
    made.land(spark)
    twice = {name: rows + rows for name, rows in made.expected().items()}
    assert made.landed(spark) == twice


@pytest.mark.parametrize(("sink", "target"), [*((sink, None) for sink in SINKS), ("delta", "log")])
def test_an_append_that_is_done_again_changes_nothing(
    spark: SparkSession, tmp_path: Path, sink: str, target: str | None
) -> None:
    """A batch of one query lands once; one with the same number of another query lands as well."""
    need(sink)
    output = Output("changes", target or str(tmp_path / "out"))
    rows = spark.range(0, 3, 1, 1)
    first, second, other = BatchId("q", 0), BatchId("q", 1), BatchId("other", 0)
    for batch in (first, second, second, other):
        APPENDS[sink](rows, output, batch)
    found = spark.read.format(sink).load(output.target) if output.is_path else spark.table("log")
    assert found.count() == 3 * len({first, second, other})


def test_readers_of_parquet_see_whole_batches_only(spark: SparkSession, tmp_path: Path) -> None:
    """While a batch is written none of its files can be seen, not even one that is ready."""
    output = Output("changes", str(tmp_path / "out"))
    go_on = tmp_path / "go on"
    rows = spark.range(0, 2, 1, 2).mapInArrow(_waiting_for(go_on), "id long")
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(append_parquet, rows, output, BatchId("q", 0))
        while not list(tmp_path.rglob("*.parquet")):
            assert not writing.done(), writing.result()
        seen = [path for path in tmp_path.rglob("*.parquet") if "/.spark-staging" not in str(path)]
        go_on.touch()
    assert not seen
    assert sorted(map(tuple, spark.read.parquet(output.target).collect())) == [
        (0, "q", 0),
        (1, "q", 0),
    ]


def _waiting_for(file: Path) -> BatchFunction:
    """Return a function whose second task ends after a file is there."""

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            while batch.column("id")[0].as_py() and not file.exists():
                time.sleep(0.05)
            yield batch

    return each
