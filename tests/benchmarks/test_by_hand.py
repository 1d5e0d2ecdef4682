"""The job that Spark's part of the benchmark is compared with does the same work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from benchmarks import by_hand, in_spark, messages
from pyspark.sql import DataFrame, Row, SparkSession

import changewire.spark as cws

_JSON = ("key", "after", "attributes")


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    """Return messages of the benchmark, a batch of them, and one that cannot be read."""
    values = in_spark.table(50)["value"].to_pylist()
    batch = b"[" + b",".join(values[:3]) + b"]"
    return spark.createDataFrame([(value,) for value in [*values, batch, b"{"]], "value binary")


def comparable(row: Row, columns: list[str]) -> dict[str, Any]:
    """Return a row without what JSON made by Spark leaves out: what is null."""
    found = {name: row[name] for name in columns}
    for name in _JSON:
        if found[name] is not None:
            found[name] = {k: v for k, v in json.loads(found[name]).items() if v is not None}
    return found


def test_the_job_made_by_hand_makes_the_same_rows(frame: DataFrame) -> None:
    """Each column of it holds what changewire gives, for every element of every message."""
    theirs = by_hand.rows(frame)
    ours = cws.decode(frame, format=messages.FORMAT).rows
    expected = [comparable(row, theirs.columns) for row in ours.collect()]
    assert len(expected) == 54
    is_dead = [row["kind"] == "dead_letter" for row in expected]
    assert sum(is_dead) == 1
    found = [comparable(row, theirs.columns) for row in theirs.collect()]
    for mine, their, dead in zip(expected, found, is_dead, strict=True):
        names = ["kind", "value"] if dead else theirs.columns
        assert {n: their[n] for n in names} == {n: mine[n] for n in names}
