"""The schemas of a topic in Spark are those that Python lists."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.runtime.changes import dataworks

import changewire as cw
import changewire.spark as cws
from changewire.framing import Position, Record, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "dataworks-json"
TYPES = [{"id": "LONG"}, {"id": "LONG", "name": "STRING"}, {"id": "DOUBLE"}, {"id": "LONG"}]
MESSAGES = [
    *(cw.encode(dataworks.message("INSERT", types, after={})) for types in TYPES),
    cw.encode(dataworks.message("MHEARTBEAT", {})),
    None,
    b"{",
]
KAFKA = "value binary, topic string, partition int, offset long, timestamp timestamp"


def test_both_engines_list_the_same(spark: SparkSession) -> None:
    """Counts, first and last places, columns and differences do not depend on the engine."""
    records = [
        Record(None, value, Position("t", i % 2, i, 1_700_000_000_123 + i))
        for i, value in enumerate(MESSAGES * 3)
    ]
    rows = [
        (r.value, "t", r.position.partition, r.position.offset, time_of(r.position))
        for r in records
    ]
    frame = spark.createDataFrame(rows, KAFKA).repartition(4)
    found = cws.schemas(frame, format=FORMAT)
    assert found == cw.schemas(records, format=FORMAT)
    assert [use.count for use in found.schemas] == [6, 3, 3]
    assert (found.messages, found.without, found.rejected) == (21, 6, 3)
    assert [d.path for use in found.schemas for d in use.differences] == ["/name", "/id", "/name"]


def time_of(position: Position) -> datetime:
    """Return the Kafka timestamp of a record as Spark has it."""
    assert position.timestamp is not None
    seconds, milliseconds = divmod(position.timestamp, 1000)
    at = datetime.fromtimestamp(seconds, timezone.utc)
    return at.replace(microsecond=milliseconds * 1000)


def test_files_have_places_too(spark: SparkSession, tmp_path: Path) -> None:
    """For files a place is a path and a number."""
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join(value for value in MESSAGES if value))
    found = cws.schemas(cws.read_files(spark, [str(path)]), format=FORMAT)
    assert found == cw.schemas(read(str(path)), format=FORMAT)
    assert [use.first.number for use in found.schemas] == [0, 1, 2]


def test_the_driver_gets_no_more_than_the_limit(spark: SparkSession) -> None:
    """Of many schemas those that came first are listed, and the rest is counted."""
    rows = [(value, i) for i, value in enumerate(MESSAGES)]
    frame = spark.createDataFrame(rows, "value binary, offset long").coalesce(1)
    found = cws.schemas(frame, format=FORMAT, limit=2)
    assert [use.columns for use in found.schemas] == [
        {"/id": "LONG"},
        {"/id": "LONG", "/name": "STRING"},
    ]
    assert (found.messages, found.left_out) == (7, 1)


def test_no_messages_have_no_schemas(spark: SparkSession) -> None:
    """An empty DataFrame gives an empty list."""
    frame = spark.createDataFrame([], "value binary")
    assert cws.schemas(frame, format=FORMAT) == cw.schemas([], format=FORMAT)


def test_formats_without_schemas_are_refused_at_once(spark: SparkSession) -> None:
    """That a format has no schemas is said before Spark starts a job."""
    frame = spark.createDataFrame([], "value binary")
    with pytest.raises(ValueError, match="carry no schema"):
        cws.schemas(frame, format="aerospike-json")
