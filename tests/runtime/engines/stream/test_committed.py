"""Of each committed batch: what the source delivered, what was decoded, and how far it has come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.engines.stream.streams import stream
from tests.samples import FORMAT, MIXED_COUNTS, mixed_messages
from tests.support.topics import create

import changewire.spark as cws
from changewire.engines.batch_lines import BatchProgress
from changewire.engines.counts import ConservationError, Counts
from changewire.engines.options import BatchId
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.jvm import last_progress
from changewire.engines.spark.stream.progress import batch_id, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTS = {"messages": 7, "elements": 9, "changes": 6, "controls": 2, "valid": 0, "dead_letters": 1}
KAFKA: dict[str, Any] = {
    "startOffset": {"t": {"0": 10, "1": 5}},
    "endOffset": {"t": {"0": 14, "1": 10}},
    "latestOffset": {"t": {"0": 20, "1": 10}},
}


def recorded(source: dict[str, Any], **changes: Any) -> str:
    """Return what Spark reports of a batch."""
    progress = {
        "batchId": 3,
        "timestamp": "2026-01-02T03:04:05.000Z",
        "batchDuration": 2000,
        "durationMs": {"addBatch": 1500},
        "numInputRows": 7,
        "sources": [source],
        "observedMetrics": {
            "changewire_delivered_1": {"rows": 3},
            "changewire_delivered_2": {"rows": 4},
            "changewire_decoded": {**COUNTS, "newest": 1767323040000},
        },
    }
    return json.dumps({**progress, **changes})


def test_the_last_progress_is_that_of_pyspark(spark: SparkSession, tmp_path: Path) -> None:
    """It is only read in another way."""
    query = stream(tmp_path, 1).land(spark)
    progress = query.lastProgress
    assert progress is not None
    text = last_progress(query)
    assert text is not None
    assert json.loads(text) == json.loads(progress.json)
    assert batch_id(text) == progress["batchId"]


def test_a_batch_tells_rows_gaps_and_lag() -> None:
    """Gaps are offsets less rows; lag is what the source has more, and the age of the newest."""
    assert read(recorded(KAFKA)) == BatchProgress(
        batch=3,
        rows=7,
        **COUNTS,
        seconds=2.0,
        rows_per_second=3.5,
        offset_gaps=2,
        lag_offsets=6,
        lag_seconds=7.0,
    )


def test_spark_connect_tells_the_same() -> None:
    """A remote session reports what was observed as a row and its schema."""
    observed: dict[str, dict[str, Any]] = json.loads(recorded(KAFKA))["observedMetrics"]
    as_rows = {
        name: {
            "values": [*metrics.values()],
            "schema": {"type": "struct", "fields": [{"name": one} for one in metrics]},
        }
        for name, metrics in observed.items()
    }
    assert read(recorded(KAFKA, observedMetrics=as_rows)) == read(recorded(KAFKA))


@pytest.mark.parametrize(
    "source",
    [
        {"startOffset": None, "endOffset": {"logOffset": 3}, "latestOffset": None},
        {**KAFKA, "startOffset": None, "latestOffset": None},
        {**KAFKA, "startOffset": {"t": {"0": 10}}, "latestOffset": {"t": {"0": 20}}},
        {"startOffset": "5", "endOffset": 7, "latestOffset": [1]},
    ],
)
def test_what_is_not_told_is_none(source: dict[str, Any]) -> None:
    """Other sources, a first batch and new partitions have no gaps and no lag to tell."""
    found = read(recorded(source))
    assert found is not None
    assert (found.offset_gaps, found.lag_offsets) == (None, None)


def test_a_trigger_without_a_batch_is_none() -> None:
    """Spark also reports triggers that found nothing, and queries that are not ours."""
    assert read(recorded(KAFKA, durationMs={"latestOffset": 3})) is None
    assert read(recorded(KAFKA, observedMetrics={})) is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), max_size=6))
def test_counts_of_batches_add_up(rows: list[tuple[str, int]]) -> None:
    """The sum of the batches is what one run over all of them counts."""
    whole, total = Counts(), Counts()
    for table, number in rows:
        group = {"kind": "change", "op": "upsert", "database": None, "schema": None, "hour": 3}
        group |= {"table": table, "code": None, "rows": number, "messages": 1, "elements": number}
        batch = Counts()
        for counts in (batch, whole):
            counts.add(group)
        total.add_all(batch.checked())
    assert total.checked().as_dict() == whole.checked().as_dict()


def test_names_of_endless_streams_stay_bounded() -> None:
    """However many tables come, few are named, and none is forgotten in the sum."""
    total = Counts()
    for first in range(0, 5000, 500):
        batch = Counts()
        batch.by_table.update({f"t{n}": 1 for n in range(first, first + 500)})
        total.add_all(batch)
    assert len(total.by_table) == 1001
    assert sum(total.by_table.values()) == 5000


def test_a_message_that_is_lost_behind_decode_stops_the_query(
    spark: SparkSession, tmp_path: Path
) -> None:
    """What the source delivered is compared with what was decoded, batch by batch."""
    made = stream(tmp_path, 2)

    def lossy(decoded: cws.DecodedFrames) -> cws.DecodedFrames:
        return cws.DecodedFrames(decoded.rows.where("offset <> 3"))

    query = made.start(spark, wrap=lossy)
    heard: list[BatchProgress] = []
    with pytest.raises(ConservationError, match=r"batch 0: the source delivered 13 .* were 12"):
        cws.await_termination(query, progress=heard.append)
    assert [(batch.rows, batch.messages) for batch in heard] == [(13, 12)]
    assert not query.isActive


def test_a_task_that_is_done_again_is_no_loss(spark: SparkSession, tmp_path: Path) -> None:
    """Rows that Spark lost and reads once more count on both sides of the comparison."""
    made = stream(tmp_path, 1)

    def lose(batch: BatchId, counts: Counts, decoded: Frames) -> None:
        assert (batch.number, counts.messages) == (0, 13)
        decoded.rows.sparkSession.catalog.clearCache()
        assert decoded.rows.count() == 15

    heard: list[BatchProgress] = []
    cws.await_termination(made.start(spark, written=lose), progress=heard.append)
    assert [(batch.rows, batch.messages) for batch in heard] == [(26, 26)]
    assert made.landed(spark) == made.expected()


def test_what_progress_raises_ends_the_query(spark: SparkSession, tmp_path: Path) -> None:
    """A caller that cannot go on leaves no query behind."""
    made = stream(tmp_path, 1)
    query = made.start(spark, trigger={"processingTime": "100 milliseconds"})

    def broken(batch: BatchProgress) -> None:
        assert batch.messages == MIXED_COUNTS["messages"]
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        cws.await_termination(query, progress=broken)
    assert not query.isActive


def test_offsets_without_a_record_are_counted(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    """A transaction leaves a mark among the records: an offset that no record has, and no error."""
    topic = tmp_path.name
    create(kafka, topic)
    options = {"kafka.bootstrap.servers": kafka, "subscribe": topic}
    options |= {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "7"}
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions()
    for _ in range(2):
        producer.begin_transaction()
        for value in mixed_messages():
            producer.produce(topic, value)
        producer.commit_transaction()
    heard: list[BatchProgress] = []
    query = cws.land(
        cws.read_kafka(spark, options),
        format=FORMAT,
        log=str(tmp_path / "log"),
        checkpoint=str(tmp_path / "checkpoint"),
        table_format="parquet",
        trigger={"availableNow": True},
    )
    assert cws.await_termination(query, progress=heard.append) is None
    assert sum(batch.rows for batch in heard) == 26
    assert [batch.offset_gaps for batch in heard] == [None, 1, 0, 1]
    assert [batch.lag_offsets for batch in heard] == [21, 14, 7, 0]
