"""On a real broker: what reaches a topic is good, and everyone can read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, DeserializingConsumer, Message, Producer, SerializingProducer
from confluent_kafka.error import (
    KeySerializationError,
    ValueDeserializationError,
    ValueSerializationError,
)
from tests.runtime.kafka.writes import JSON, MSGPACK, Writes
from tests.support.topics import create

import changewire as cw
from changewire.kafka import ChangewireDeserializer, ChangewireSerializer, MessageRejectedError

GOOD, BAD_OF_EACH = 10_000, 10


@pytest.fixture(params=[JSON, MSGPACK], ids=lambda writes: writes.format, scope="module")
def writes(request: pytest.FixtureRequest) -> Writes:
    """Return the writes of each encoding in turn."""
    found: Writes = request.param
    return found


@pytest.fixture(scope="module")
def refused(writes: Writes, kafka: str) -> list[tuple[str, str]]:
    """Produce good messages, bad ones among them, and a tombstone.

    Returns:
        The code that each bad message was to be refused with, and the one that it was.
    """
    create(kafka, writes.format)
    serialize = ChangewireSerializer(writes.format, header=True)
    serializers = {"key.serializer": serialize, "value.serializer": serialize}
    found: list[tuple[str, str]] = []
    bad = list(writes.bad) * BAD_OF_EACH
    every = GOOD // len(bad)
    with SerializingProducer({"bootstrap.servers": kafka, "linger.ms": 5, **serializers}) as to:
        for i, obj in enumerate(writes.good(GOOD)):
            parsed = writes.parsed(i)
            to.produce(writes.format, key=writes.key(parsed), value=obj, headers=[])
            if i % every == 0:
                code = bad[i // every]
                found.append((code, attempt(to, writes.format, writes.bad[code](parsed))))
        to.produce(writes.format, key=writes.key(writes.parsed(0)), headers=[])
        assert to.flush(30) == 0
    return found


def attempt(producer: SerializingProducer, topic: str, bad: Any) -> str:
    """Try to produce what is to be refused; return the code of the first issue."""
    with pytest.raises(ValueSerializationError) as caught:
        producer.produce(topic, value=bad, headers=[])
    error = caught.value.exception
    assert isinstance(error, MessageRejectedError)
    assert str(error) in str(caught.value)
    return error.issues[0].code


def consumed(consumer: Any, topic: str) -> Iterator[Message]:
    """Yield the records of a topic, up to its tombstone."""
    with consumer:
        consumer.subscribe([topic])
        while (message := consumer.poll(20)) is not None and message.value() is not None:
            assert message.error() is None
            yield message
        assert message is not None


def settings(server: str, group: str) -> dict[str, Any]:
    """Return the settings of a consumer that begins at the beginning."""
    return {"bootstrap.servers": server, "group.id": group, "auto.offset.reset": "earliest"}


def test_every_bad_message_is_refused(writes: Writes, refused: list[tuple[str, str]]) -> None:
    """A hundred bad messages of ten kinds raise, each with its reason."""
    assert len(writes.bad) == 10
    assert len(refused) == 100
    assert [code for code, _ in refused] == [found for _, found in refused]


def test_the_topic_holds_the_good_messages(
    writes: Writes, refused: list[tuple[str, str]], kafka: str
) -> None:
    """Our deserializer, which was told no format, gives every message that was sent, in order."""
    assert refused
    read = ChangewireDeserializer()
    deserializers = {"key.deserializer": read, "value.deserializer": read}
    consumer = DeserializingConsumer({**settings(kafka, "ours"), **deserializers})
    codec = cw.codec(writes.format)
    count = 0
    for message in consumed(consumer, writes.format):
        parsed = writes.parsed(count)
        assert message.value() == codec.decode(writes.dumps(parsed))
        assert message.key() == codec.decode_key(writes.dumps(writes.key(parsed)))
        count += 1
    assert count == GOOD


def test_any_reader_has_the_same_values(
    writes: Writes, refused: list[tuple[str, str]], kafka: str
) -> None:
    """Nothing stands around a message: plain json or msgpack reads what was sent."""
    assert refused
    records = consumed(Consumer(settings(kafka, "plain")), writes.format)
    values = [writes.loads(message.value() or b"") for message in records]
    assert values == [writes.parsed(i) for i in range(GOOD)]


def test_a_key_that_is_none_is_refused(kafka: str) -> None:
    """A producer sends nothing where the key is refused, and says so."""
    serializer = {"key.serializer": ChangewireSerializer(JSON.format)}
    with SerializingProducer({"bootstrap.servers": kafka, **serializer}) as producer:
        with pytest.raises(KeySerializationError, match="key of topic nowhere: "):
            producer.produce("nowhere", key=["no", "key"], value=b"{}")
        assert len(producer) == 0


def test_a_consumer_says_what_it_could_not_read(kafka: str) -> None:
    """A message of another producer that is damaged is an error, which has the record."""
    create(kafka, "damaged")
    with Producer({"bootstrap.servers": kafka}) as producer:
        producer.produce("damaged", value=json.dumps({"msg": "upsert"}))
    read = {"value.deserializer": ChangewireDeserializer(JSON.format)}
    with DeserializingConsumer({**settings(kafka, "damaged"), **read}) as consumer:
        consumer.subscribe(["damaged"])
        with pytest.raises(ValueDeserializationError, match="unknown-variant") as caught:
            consumer.poll(20)
    assert isinstance(caught.value.exception, MessageRejectedError)
    assert caught.value.kafka_message is not None
    assert caught.value.kafka_message.offset() == 0
