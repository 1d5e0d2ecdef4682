"""A query that fails says first what went wrong innermost, whoever raised it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from tests.runtime.engines.stream.streams import Stream, stream
from tests.support.session import need

import changewire.spark as cws
from changewire.engines.spark.log.place import LogPlace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Append = Callable[..., None]


def failing(made: Stream, spark: SparkSession, append: Append) -> pytest.ExceptionInfo[Exception]:
    """Land a stream whose log is appended to by a function that fails."""
    with patch.object(LogPlace, "append", append), pytest.raises(Exception) as caught:  # noqa: PT011
        made.land(spark)
    return caught


def raised_by_a_worker(error: Exception) -> Append:
    """Return a function that lets workers raise an error."""

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            raise error
        yield from ()

    def append(_place: LogPlace, rows: DataFrame, *_: object) -> None:
        rows.mapInArrow(each, rows.schema).collect()

    return append


def test_an_error_of_a_batch_is_named_first(spark: SparkSession, tmp_path: Path) -> None:
    """A Python error on the driver is class and message, and its values are hidden."""

    def append(*_: object) -> None:
        raise ValueError("no table for 'Dora'\nin 'shop'")

    caught = failing(stream(tmp_path, 1), spark, append)
    assert caught.type is StreamingQueryException
    assert str(caught.value).startswith("ValueError: no table for [hidden] in [hidden]\nquery ")
    assert "no table for 'Dora'" in str(caught.value.__cause__)


def test_an_error_of_a_worker_is_named_first(spark: SparkSession, tmp_path: Path) -> None:
    """A Python error of a worker is found within the errors that Spark makes of it."""
    caught = failing(stream(tmp_path, 1), spark, raised_by_a_worker(KeyError("Dora")))
    assert caught.type is StreamingQueryException
    assert str(caught.value).startswith("KeyError: [hidden]\nquery ")


def test_an_error_of_ours_in_a_worker_is_raised_as_such(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It keeps its class, and its message with the JSON Pointer."""
    error = cws.OutputError("users: at /a/b: expected integer, found string")
    caught = failing(stream(tmp_path, 1), spark, raised_by_a_worker(error))
    assert caught.type is cws.OutputError
    assert str(caught.value) == str(error)


def test_an_error_of_delta_is_named_first(spark: SparkSession, tmp_path: Path) -> None:
    """A table with other columns than the rows: Delta's own reason."""
    need("delta")
    place = str(tmp_path / "table")
    spark.range(1).write.format("delta").save(place)

    def append(_place: LogPlace, rows: DataFrame, *_: object) -> None:
        rows.select("topic").write.format("delta").mode("append").save(place)

    caught = failing(stream(tmp_path, 1, "delta"), spark, append)
    assert caught.type is StreamingQueryException
    assert "A schema mismatch detected when writing to the Delta table" in first_line(caught)


def test_a_cause_that_only_java_knows_is_named_first(spark: SparkSession, tmp_path: Path) -> None:
    """A damaged protocol of a table: PySpark's text has Spark's outermost exception alone."""
    need("delta")
    place = tmp_path / "table"
    spark.range(1).write.format("delta").save(str(place))
    damage_protocol(place)

    def append(_place: LogPlace, rows: DataFrame, *_: object) -> None:
        rows.write.format("delta").mode("append").save(str(place))

    caught = failing(stream(tmp_path, 1, "delta"), spark, append)
    assert caught.type is StreamingQueryException
    assert "Mismatched minReaderVersion and readerFeatures" in first_line(caught)


def damage_protocol(table: Path) -> None:
    """Let a table name versions of its protocol that cannot be."""
    (log,) = (table / "_delta_log").glob("*.json")
    actions = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    for action in actions:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 99, "minWriterVersion": 99}
    log.write_text("".join(f"{json.dumps(action)}\n" for action in actions), encoding="utf-8")
    for checksum in (table / "_delta_log").glob("*.crc"):
        checksum.unlink()
    for checksum in (table / "_delta_log").glob(".*.crc"):
        checksum.unlink()


def first_line(caught: pytest.ExceptionInfo[Exception]) -> str:
    """Return the first line of an error's text."""
    return str(caught.value).splitlines()[0]
