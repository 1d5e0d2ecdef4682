"""What confluent-kafka's serializer interface is made of, for clients that come without it.

The names and arguments are those of ``confluent_kafka.serialization``.
"""

from enum import Enum
from typing import Any


class SerializationError(Exception):
    """A value or a key cannot be written or read."""


class MessageField(str, Enum):
    """What part of a Kafka record is written or read."""

    NONE = "none"
    KEY = "key"
    VALUE = "value"


class SerializationContext:
    """Where a value or a key goes, or comes from.

    Attributes:
        topic: Name of the topic.
        field: What part of the record it is.
        headers: Headers of the record, as a list of (name, value) or a dictionary; None for none.
    """

    def __init__(self, topic: str, field: MessageField, headers: Any = None) -> None:
        self.topic = topic
        self.field = field
        self.headers = headers


class Serializer:
    """Makes bytes of objects."""


class Deserializer:
    """Makes objects of bytes."""
