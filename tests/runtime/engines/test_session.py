"""A session whose Spark and connectors do not fit is refused before it starts anything."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

import changewire.spark as cws
from changewire.engines.spark.session import accumulator, check_jars

KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13"


def other_session(version: str, settings: dict[str, str]) -> SparkSession:
    """Return what stands for a session of a version, with settings."""
    return cast("SparkSession", SimpleNamespace(version=version, conf=settings))


def test_a_session_with_jars_of_another_spark_is_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error names the versions that fit, and no Java has been started."""
    started: list[Any] = []
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(SparkSession, "builder", started)
    with pytest.raises(cws.StreamError, match=rf"^{KAFKA[17:]}:9.9.0 is for Spark 9.9, and this "):
        cws.session({"spark.jars.packages": f"{KAFKA}:9.9.0"})
    assert started == []


def test_accumulators_are_numbered_one_at_a_time() -> None:
    """Threads that merge tables ask for accumulators, which PySpark numbers without a lock."""
    asking, most = 0, 0

    def number(value: int, _param: None) -> int:
        nonlocal asking, most
        asking += 1
        most = max(most, asking)
        time.sleep(0.01)
        asking -= 1
        return value

    spark = cast("SparkSession", SimpleNamespace(sparkContext=SimpleNamespace(accumulator=number)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(partial(accumulator, spark), range(8)))
    assert most == 1


@pytest.mark.parametrize("name", ["spark.jars.packages", "spark.jars"])
def test_a_session_of_the_caller_is_checked(name: str) -> None:
    """A session that runs already has its jars by either setting."""
    delta = "io.delta:delta-spark_2.13:4.0.1"
    check_jars(other_session("4.0.1", {name: delta}))
    check_jars(other_session("4.3.0", {}))
    with pytest.raises(cws.StreamError, match=r'4\.3\.0: pip install "pyspark==4\.0\.1"$'):
        check_jars(other_session("4.3.0", {name: delta}))
