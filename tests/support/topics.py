"""Topics on the broker, and records in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from msgspec.structs import replace

from changewire.framing import Position, Record


def create(
    server: str, *topics: str, partitions: int = 1, config: Mapping[str, str] | None = None
) -> None:
    """Create topics, and wait until they are there."""
    new = [NewTopic(topic, partitions, 1, config=dict(config or {})) for topic in topics]
    client = AdminClient({"bootstrap.servers": server})
    for created in client.create_topics(new).values():
        created.result()


def produce(server: str, records: Iterable[Record]) -> list[Record]:
    """Send records to the topic and partition that each has.

    Returns:
        The records as they stand there, by topic, partition and offset.
    """
    producer = Producer({"bootstrap.servers": server, "linger.ms": 5})
    sent: list[Record] = []
    for record in records:
        send(producer, record, partial(_keep, sent, record))
    producer.flush()
    return sorted(sent, key=place)


def send(producer: Producer, record: Record, delivered: Callable[..., None] | None = None) -> None:
    """Let a producer send one record, without waiting for it."""
    at = record.position
    assert at.topic is not None
    assert at.partition is not None
    producer.produce(
        at.topic,
        record.value,
        record.key,
        partition=at.partition,
        headers=list(record.headers),
        on_delivery=delivered,
    )


def place(record: Record) -> tuple[Any, ...]:
    """Return where a record stands, to sort by."""
    at = record.position
    return at.topic, at.partition, at.offset


def _keep(sent: list[Record], record: Record, error: KafkaError | None, message: Message) -> None:
    assert error is None
    position = Position(
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        timestamp=message.timestamp()[1],
    )
    sent.append(replace(record, position=position))
