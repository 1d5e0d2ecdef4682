"""Batches whose changes are appended by the job that decodes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.runtime.engines.stream.streams import KINDS, Stream, stream
from tests.samples import FORMAT, mixed_messages

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.counts import ConservationError
from changewire.engines.decode import Decoder
from changewire.engines.spark import reports
from changewire.engines.spark.reports import TaskReports
from changewire.engines.spark.stream import batch as batches
from changewire.engines.spark.stream.direct import append_directly

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = {"max_dead_letters": "100%"}
"""Options of a stream whose batches are kept and counted before they are written."""

OF_A_BATCH = {"query", "time", "seconds"}


def landed(spark: SparkSession, made: Stream, **options: Any) -> tuple[list[Any], list[Any]]:
    """Run a stream; return its lines of metrics, and its outputs in the order of their records."""
    lines: list[str] = []
    made.land(spark, metrics=lines.append, **options)
    told = [json.loads(line) for line in lines]
    metrics = [{k: v for k, v in line.items() if k not in OF_A_BATCH} for line in told]
    outputs = [made.output(spark, name).orderBy("offset", "element") for name in KINDS]
    return metrics, [rows.drop(*OF_A_BATCH).collect() for rows in outputs]


@pytest.mark.parametrize("sink", ["parquet", "delta"])
def test_both_ways_write_the_same(spark: SparkSession, tmp_path: Path, sink: str) -> None:
    """Outputs and lines of metrics are equal, whether batches are kept or not."""
    kept = landed(spark, stream(tmp_path / "kept", 2, sink), **KEPT)
    with patch.object(batches, "persisted", side_effect=AssertionError("a batch is kept")):
        assert landed(spark, stream(tmp_path / "direct", 2, sink)) == kept
    assert all(kept[1])


def test_what_is_too_large_to_report_is_decoded_again(spark: SparkSession, tmp_path: Path) -> None:
    """Such a batch lands once, and the next one is kept at once."""
    made = stream(tmp_path, 2, "delta")
    with (
        patch.object(reports, "MOST_OF_BATCH", 0),
        patch.object(batches, "append_directly", side_effect=append_directly) as direct,
    ):
        made.land(spark)
    assert direct.call_count == 1
    assert made.landed(spark) == made.expected()


def test_reports_are_waited_for_until_the_job_is_over(spark: SparkSession) -> None:
    """They are there as soon as all tasks have ended; the sink may commit for longer."""
    found, is_over = TaskReports(spark), Event()
    messages = pa.array(mixed_messages(), pa.binary())

    def decoded(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = Decoder(DecodeOptions(FORMAT))(batch)
            yield from (one.select(["kind"]) for one in found.reported(rows))

    rows = spark.createDataFrame(pa.table({"value": messages})).repartition(2)
    kept = rows.mapInArrow(decoded, "kind string").collect()
    report = found.wait(2, is_over)
    assert report is not None
    assert report.counts.messages == len(messages)
    assert report.counts.elements == len(kept)
    is_over.set()
    assert found.wait(2, is_over) is None


def test_a_task_that_loses_an_element_fails(spark: SparkSession) -> None:
    """It fails before it ends, so that no sink commits what it wrote."""
    messages = pa.array(mixed_messages(), pa.binary())
    (rows,) = Decoder(DecodeOptions(FORMAT))(pa.record_batch({"value": messages}))
    found = TaskReports(spark)
    assert [*found.reported([rows])] == [rows]
    lossy = rows.filter(pc.equal(rows.column("element"), 0))
    with pytest.raises(ConservationError, match="15 elements, decoded were 13"):
        list(found.reported([lossy]))
