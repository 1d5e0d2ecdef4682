"""Topics of a real broker become the rows that their records are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from tests.runtime.codec.formats import FORMATS, role_of, wire_of
from tests.runtime.engines.rows import plain
from tests.support.topics import create, place, produce, send

import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrow.batches import to_batch
from changewire.engines.decode import Decoder
from changewire.engines.kafka_options import checked
from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEADERS: tuple[tuple[tuple[str, bytes | None], ...], ...] = (
    (),
    (("source", b"\x00\xff"), ("source", b"again"), ("empty", None)),
)
PARTITIONS = 2
PATTERN = r"golden\..*"


@pytest.fixture(scope="module")
def topics(kafka: str) -> dict[str, list[Record]]:
    """A topic for each format, with its golden messages, good and bad, and tombstones."""
    create(kafka, *map(topic_of, FORMATS), partitions=PARTITIONS)
    return {name: produce(kafka, golden(name)) for name in FORMATS}


def topic_of(format: str) -> str:
    """Return the topic of a format."""
    return f"golden.{format}"


def golden(format: str) -> list[Record]:
    """Return the golden messages of a format as records: with keys and headers, or without."""
    paths = [path for kind in ("valid", "invalid") for path in FORMATS[format].golden(kind)]
    values = [wire_of(path) for path in paths if role_of(path) in {"message", "batch"}]
    return [
        Record(
            key=None if number % 3 == 0 else b"k%d" % number,
            value=value,
            position=Position(topic=topic_of(format), partition=number % PARTITIONS),
            headers=HEADERS[number % 2],
        )
        for number, value in enumerate([None, *values, None])
    ]


def expected(records: Sequence[Record], format: str) -> list[dict[str, Any]]:
    """Return the rows that the engine without Spark makes of records."""
    batches = Decoder(DecodeOptions(format))(to_batch(list(records)))
    rows: list[dict[str, Any]] = [row for batch in batches for row in batch.to_pylist()]
    return rows


def rows_of(spark: SparkSession, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table by position."""
    found = spark.table(table).orderBy("topic", "partition", "offset", "element")
    return [plain(row) for row in found.collect()]


@pytest.mark.parametrize("name", FORMATS)
def test_a_topic_read_at_once_gives_the_rows_of_its_records(
    spark: SparkSession, kafka: str, topics: dict[str, list[Record]], name: str
) -> None:
    """Every golden message is the row that it is elsewhere, with place, time, key and headers."""
    options = {"kafka.bootstrap.servers": kafka, "subscribe": topic_of(name)}
    messages = cws.read_kafka(spark, options, streaming=False)
    cws.decode(messages, format=name).rows.createOrReplaceTempView("golden_rows")
    assert rows_of(spark, "golden_rows") == expected(topics[name], name)


def test_a_stream_of_topics_gives_the_rows_of_their_records(
    spark: SparkSession, kafka: str, topics: dict[str, list[Record]], tmp_path: Path
) -> None:
    """A stream of several topics and formats gives each record once, over several batches."""
    options: cws.KafkaOptions = {
        "kafka.bootstrap.servers": kafka,
        "subscribePattern": PATTERN,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": 100,
    }
    rows = cws.decode(cws.read_kafka(spark, options), format="auto").rows
    writer = rows.writeStream.format("memory").queryName("golden_stream")
    query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
    query.awaitTermination()
    records = sorted((record for found in topics.values() for record in found), key=place)
    assert sum(progress["numInputRows"] for progress in query.recentProgress) == len(records)
    assert len(query.recentProgress) > 1
    assert rows_of(spark, "golden_stream") == expected(records, "auto")


def test_one_topic_may_carry_all_formats(spark: SparkSession, kafka: str) -> None:
    """With format="auto" each message of a mixed topic is read by the format that it has."""
    create(kafka, "mixed")
    position = Position(topic="mixed", partition=0)
    values = [record.value for name in FORMATS for record in golden(name)]
    records = produce(kafka, [Record(b"k", value, position) for value in values])
    options = {"kafka.bootstrap.servers": kafka, "assign": '{"mixed": [0]}'}
    messages = cws.read_kafka(spark, options, streaming=False)
    cws.decode(messages, format="auto").rows.createOrReplaceTempView("mixed_rows")
    assert rows_of(spark, "mixed_rows") == expected(records, "auto")


def test_gaps_between_offsets_are_no_error(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    """Committed records are read around an aborted transaction and the markers between them."""
    create(kafka, "gaps")
    (value, *_) = [record.value for record in golden("lindorm-json") if record.value]
    record = Record(b"k", value, Position(topic="gaps", partition=0))
    for number, finish in enumerate((Producer.commit_transaction, Producer.abort_transaction) * 2):
        producer = Producer({"bootstrap.servers": kafka, "transactional.id": f"gaps-{number}"})
        producer.init_transactions()
        producer.begin_transaction()
        send(producer, record)
        send(producer, record)
        producer.flush()
        finish(producer)
    options: cws.KafkaOptions = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": "gaps",
        "kafka.isolation.level": "read_committed",
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": 4,
    }
    changes = cws.decode(cws.read_kafka(spark, options), format="lindorm-json").changes
    writer = changes.writeStream.format("memory").queryName("gaps_stream")
    query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
    query.awaitTermination()
    offsets = [row["offset"] for row in spark.table("gaps_stream").orderBy("offset").collect()]
    assert offsets == [0, 1, 6, 7]


def test_other_options_pass_through(spark: SparkSession, kafka: str) -> None:
    """Offsets to start and end at, and unwanted headers, are what Spark makes of them."""
    create(kafka, "options")
    position = Position(topic="options", partition=0)
    produce(kafka, [Record(None, b"%d" % number, position) for number in range(5)])
    options: cws.KafkaOptions = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": "options",
        "startingOffsets": '{"options": {"0": 1}}',
        "endingOffsets": '{"options": {"0": 3}}',
        "includeHeaders": False,
    }
    messages = cws.read_kafka(spark, options, streaming=False)
    assert [bytes(row["value"]) for row in messages.collect()] == [b"1", b"2"]
    assert "headers" not in messages.columns


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"includeHeaders": "true", "kafka.fetch.max.wait.ms": "10"}),
        ({"KAFKA.fetch.max.wait.ms": 500}, {"includeHeaders": "true"}),
        ({"includeheaders": False}, {"kafka.fetch.max.wait.ms": "10"}),
    ],
)
def test_some_options_have_other_defaults(given: dict[str, Any], expected: dict[str, str]) -> None:
    """What is given, in whatever case, stays as it is."""
    named = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "t"}
    texts = {name: str(value).lower() for name, value in given.items()}
    assert checked({**named, **given}) == {**named, **texts, **expected}
