"""Dead letters in a Kafka topic, on a real broker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Message
from tests.runtime.engines.ends import crash
from tests.runtime.engines.stream.faults import ending_at
from tests.runtime.engines.stream.streams import Stream, stream
from tests.samples import FORMAT, mixed_messages
from tests.support.topics import create

import changewire.spark as cws
from changewire.version import VERSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def consumed(kafka: str, topic: str) -> list[Message]:
    """Return the records of a topic, in their order."""
    settings = {
        "bootstrap.servers": kafka,
        "group.id": topic,
        "auto.offset.reset": "earliest",
        "enable.partition.eof": True,
    }
    client = Consumer(settings)
    client.subscribe([topic])
    found: list[Message] = []
    while True:
        record = client.poll(20)
        assert record is not None
        if record.error() is not None:
            client.close()
            return found
        found.append(record)


def headers(record: Message) -> dict[str, str]:
    """Return the headers of a record by name, the last of each."""
    received = record.headers()
    assert isinstance(received, list)
    found: dict[str, str] = {}
    for name, value in received:
        assert isinstance(value, bytes)
        found[name] = value.decode()
    return found


@pytest.fixture
def made(kafka: str, tmp_path: Path) -> Stream:
    """A batch of mixed messages, and a topic for its dead letters."""
    create(kafka, tmp_path.name)
    return stream(tmp_path, 1)


def test_dead_letters_go_to_a_topic_as_connect_sends_them(
    spark: SparkSession, kafka: str, made: Stream
) -> None:
    """Key, value and headers are as received; the headers of Kafka Connect tell where and why."""
    topic = made.root.name
    options = {"kafka.bootstrap.servers": kafka, "subscribe": "any"}
    query = made.land(spark, dead_letters_topic=topic, kafka=options)
    assert query.lastProgress["batchId"] == 0
    records = consumed(kafka, topic)
    by_place = {
        (h["__connect.errors.offset"], h["changewire.element"]): h for h in map(headers, records)
    }
    letters = made.landed(spark)["dead_letters"]
    assert by_place.keys() == {(str(offset), str(element)) for offset, element in letters}
    found = next(r for r in records if headers(r)["__connect.errors.offset"] == "7")
    assert (found.key(), found.value()) == (b"k", mixed_messages()[7])
    told = headers(found)
    assert told.pop("changewire.query")
    message = told.pop("__connect.errors.exception.message")
    assert message.startswith("aerospike-json: at /key: ")
    assert told == {
        "h": "v",
        "__connect.errors.topic": "t",
        "__connect.errors.partition": "3",
        "__connect.errors.offset": "7",
        "__connect.errors.connector.name": "changewire",
        "__connect.errors.task.id": "0",
        "__connect.errors.stage": "VALUE_CONVERTER",
        "__connect.errors.class.name": "changewire.decode",
        "__connect.errors.exception.class.name": "changewire.DecodeError",
        "changewire.element": "1",
        "changewire.code": "missing-property",
        "changewire.pointer": "/key",
        "changewire.format": FORMAT,
        "changewire.version": VERSION,
    }


def test_a_crash_loses_no_dead_letter_of_the_topic(
    spark: SparkSession, kafka: str, made: Stream
) -> None:
    """A batch that ends before its topic is written is done again, and its dead letters come."""
    topic = made.root.name
    options = {"dead_letters_topic": topic, "kafka": {"kafka.bootstrap.servers": kafka}}
    with ending_at("after changes", made.sink, crash), pytest.raises(Exception, match="Crash"):
        made.land(spark, **options)
    made.land(spark, **options)
    assert made.landed(spark) == made.expected()
    assert len(consumed(kafka, topic)) == 4


def test_dead_letters_of_the_topic_itself_are_not_sent_again(
    spark: SparkSession, kafka: str, made: Stream
) -> None:
    """A query that reads its own dead letters does not feed itself."""
    create(kafka, "t")
    made.land(spark, dead_letters_topic="t", kafka={"kafka.bootstrap.servers": kafka})
    assert consumed(kafka, "t") == []
    assert made.landed(spark) == made.expected()


def test_a_topic_that_is_not_there_is_refused(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    """The query does not start without the topic that is to get its dead letters."""
    made = stream(tmp_path, 1)
    with pytest.raises(cws.KafkaSourceError, match="no topic nowhere on 127"):
        made.start(spark, dead_letters_topic="nowhere", kafka={"kafka.bootstrap.servers": kafka})
    with pytest.raises(cws.KafkaSourceError, match=r"by the option kafka.bootstrap.servers"):
        made.start(spark, dead_letters_topic="nowhere")
    assert not (tmp_path / "checkpoint").exists()
