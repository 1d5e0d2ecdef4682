"""The serializer interface of confluent-kafka, or the same names without it."""

__all__ = [
    "Deserializer",
    "Headers",
    "MessageField",
    "SerializationContext",
    "SerializationError",
    "Serializer",
    "is_key_in",
    "place",
]

Headers = dict[str, str | bytes | None] | list[tuple[str, str | bytes | None]] | None
"""Headers of a record, in the two forms that confluent-kafka takes."""

try:
    from confluent_kafka.serialization import (
        Deserializer,
        MessageField,
        SerializationContext,
        SerializationError,
        Serializer,
    )
except ImportError:
    from changewire.kafka.own_interface import (  # type: ignore[assignment]
        Deserializer,
        MessageField,
        SerializationContext,
        SerializationError,
        Serializer,
    )


def is_key_in(ctx: SerializationContext | None, *, default: bool) -> bool:
    """Return whether a key is meant; the default if there is no context, or it does not say."""
    field = "none" if ctx is None else ctx.field
    return default if field == "none" else field == "key"


def place(ctx: SerializationContext | None, *, is_key: bool) -> str:
    """Return what part of a record is meant, and of which topic, for texts."""
    part = "key" if is_key else "value"
    return part if ctx is None else f"{part} of topic {ctx.topic}"
