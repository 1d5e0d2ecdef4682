"""The jobs that Spark's part of the benchmark is compared with do the same work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from benchmarks import by_hand, in_spark, topics
from pyspark.sql import Row, SparkSession

import changewire.spark as cws

_JSON = ("key", "before", "after", "attributes")
_BATCHES = {"aerospike-json"}


def comparable(row: Row, columns: list[str]) -> dict[str, Any]:
    """Return a row without what JSON made by Spark leaves out: what is null."""
    found = {name: row[name] for name in columns}
    for name in set(_JSON) & set(columns):
        if found[name] is not None:
            values = json.loads(found[name])
            values.pop("leniencies", None)  # a job made by hand counts none
            found[name] = {k: v for k, v in values.items() if v is not None}
    return found


@pytest.mark.parametrize("topic", by_hand.ROWS)
def test_the_job_made_by_hand_makes_the_same_rows(spark: SparkSession, topic: str) -> None:
    """Each column of it holds what changewire gives, for every element of every message."""
    values = topics.table(topic, 50)["value"].to_pylist()
    batches = [b"[" + b",".join(values[:3]) + b"]"] if topic in _BATCHES else []
    rows = [(value,) for value in [*values, *batches, b"{"]]
    frame = spark.createDataFrame(rows, "value binary")
    theirs = by_hand.ROWS[topic](frame)
    options = in_spark.options_of(topic)
    ours = cws.decode(frame, format=options.format, key_columns=options.key_columns).rows
    expected = [comparable(row, theirs.columns) for row in ours.collect()]
    assert len(expected) == 51 + 3 * len(batches)
    is_dead = [row["kind"] == "dead_letter" for row in expected]
    assert sum(is_dead) == 1
    found = [comparable(row, theirs.columns) for row in theirs.collect()]
    for mine, their, dead in zip(expected, found, is_dead, strict=True):
        names = ["kind", "value"] if dead else theirs.columns
        assert {n: their[n] for n in names} == {n: mine[n] for n in names}
