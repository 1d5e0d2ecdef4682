"""Each element once, whatever ends the query, and wherever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException
from tests.runtime.engines.ends import crash
from tests.runtime.engines.stream.faults import STEPS, ending_at
from tests.runtime.engines.stream.streams import stream
from tests.support.session import need

from changewire.engines.spark.log.place import LogPlace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_a_crash_at_any_step_has_no_effect(
    spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    """A batch ends at one step after the other; in the end each of its elements is there once."""
    made = stream(tmp_path, 1, table_format)
    made.name = f"ice.{tmp_path.name}.log" if table_format == "iceberg" else ""
    for step in STEPS:
        with ending_at(step, crash), pytest.raises(StreamingQueryException, match="CrashError"):
            made.land(spark)
    made.land(spark)
    assert made.landed(spark) == made.expected()


@pytest.mark.long
def test_a_killed_driver_loses_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """A process that ends behind the log leaves a batch that the next process does not repeat."""
    made = stream(tmp_path, 1)
    program = ["-m", "tests.runtime.engines.stream.faults", str(tmp_path), "after the log"]
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


def test_a_new_checkpoint_does_not_meet_old_batches(spark: SparkSession, tmp_path: Path) -> None:
    """With a new checkpoint everything lands again beside what is there, nothing is left out."""
    made = stream(tmp_path, 1)
    made.land(spark)
    rmtree(tmp_path / "checkpoint")
    made.land(spark)
    assert made.landed(spark) == made.expected() + made.expected()


@pytest.mark.parametrize("target", ["path", "append_log"])
def test_an_append_that_is_done_again_changes_nothing(
    spark: SparkSession, tmp_path: Path, target: str
) -> None:
    """A batch of one query lands once; one with the same number of another query lands as well."""
    need("delta")
    place = LogPlace(str(tmp_path / "out") if target == "path" else target)
    rows = spark.range(0, 3, 1, 1).withColumnRenamed("id", "offset")
    batches = [("q", 0), ("q", 1), ("q", 1), ("other", 0)]
    for query, batch in batches:
        place.append(rows, query, batch)
    assert place.read(spark).count() == 3 * len({*batches})
