"""The serializer interface of confluent-kafka; the same names where that is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "Deserializer",
    "Headers",
    "MessageField",
    "SerializationContext",
    "SerializationError",
    "Serializer",
]

Headers = dict[str, str | bytes | None] | list[tuple[str, str | bytes | None]] | None
"""Headers of a record, in the two forms that confluent-kafka takes."""

if TYPE_CHECKING:
    from confluent_kafka.serialization import (
        Deserializer,
        MessageField,
        SerializationContext,
        SerializationError,
        Serializer,
    )
else:
    try:
        from confluent_kafka.serialization import (
            Deserializer,
            MessageField,
            SerializationContext,
            SerializationError,
            Serializer,
        )
    except ImportError:
        from changewire.kafka.own_interface import (
            Deserializer,
            MessageField,
            SerializationContext,
            SerializationError,
            Serializer,
        )
