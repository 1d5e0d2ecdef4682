"""A small run of chaos; ``nox -s chaos`` does more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.chaos.__main__ import chaos
from tests.chaos.checks import outcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_killed_driver_loses_nothing_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The JVM dies between the rows of a table and the checkpoint; the next start mends it all."""
    done = chaos(["after rows"], tmp_path, "delta", seed=1)
    found = outcome(spark, done.job, done.sent)
    assert (done.kills, found.rows) == (1, len(done.sent))
    assert (found.lost, found.double, found.wrong_rows) == (0, 0, 0)
