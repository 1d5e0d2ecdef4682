"""A stream that several tests look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.runtime.engines.stream.streams import Landed, stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="package")
def landed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Landed:
    """Two batches of mixed messages, in a log of Delta. Tests only look at them."""
    made = stream(tmp_path_factory.mktemp("landed"), 2)
    notices: list[str] = []
    metrics: list[str] = []
    query = made.land(spark, notice=notices.append, metrics=metrics.append)
    delivered = sum(progress["numInputRows"] for progress in query.recentProgress)
    return Landed(made, delivered, notices, metrics)
