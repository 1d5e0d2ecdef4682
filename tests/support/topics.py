"""Topics on the broker, and records in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic
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
        send(producer, record, lambda _, message, record=record: sent.append(_at(record, message)))
    producer.flush()
    return sorted(sent, key=place)


def send(producer: Producer, record: Record, delivered: Any = None) -> None:
    """Let a producer send one record, without waiting for it."""
    producer.produce(
        record.position.topic,
        record.value,
        record.key,
        partition=record.position.partition,
        headers=list(record.headers),
        on_delivery=delivered,
    )


def place(record: Record) -> tuple[Any, ...]:
    """Return where a record stands, to sort by."""
    at = record.position
    return at.topic, at.partition, at.offset


def _at(record: Record, message: Message) -> Record:
    position = Position(
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        timestamp=message.timestamp()[1],
    )
    return replace(record, position=position)
