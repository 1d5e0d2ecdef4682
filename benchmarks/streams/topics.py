"""Topics of the broker, filled once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from confluent_kafka import KafkaError, Message, Producer
from tests.support.topics import create

from benchmarks.streams.history import PARTITIONS, Sent

_WAITING: Final = 50_000
"""Records that wait for the broker; its client holds twice as many."""


class NotSentError(Exception):
    """The broker did not take a record."""


def fill(server: str, topic: str, records: Iterable[Sent]) -> tuple[int, int]:
    """Make a topic of records; return how many there are, and their bytes.

    Raises:
        NotSentError: The broker did not take one.
    """
    create(server, topic, partitions=PARTITIONS)
    producer = Producer({"bootstrap.servers": server, "linger.ms": 50})
    refused: list[str] = []
    count = size = 0
    for partition, key, value in records:
        producer.produce(topic, value, key, partition, partial(_told, refused))
        count += 1
        size += len(value)
        if count % _WAITING == 0:
            producer.flush()
    producer.flush()
    if refused:
        raise NotSentError(f"{topic}: {len(refused)} of {count} records: {refused[0]}")
    return count, size


def _told(refused: list[str], error: KafkaError | None, _: Message) -> None:
    if error is not None:
        refused.append(error.str())
