"""Serializers as producers and consumers use them."""

from __future__ import annotations

from changewire import aerospike_json
from changewire.kafka import (
    HEADERS,
    ChangewireDeserializer,
    ChangewireSerializer,
    MessageField,
    MessageRejectedError,
    SchemaHeader,
    SerializationContext,
    SerializationError,
)


def sent(message: object, topic: str) -> bytes | None:
    """Return the value of a Kafka record; every issue ends the program."""
    serialize = ChangewireSerializer("aerospike-json", strict=True, header=True, key_columns=None)
    context = SerializationContext(topic, MessageField.VALUE, [])
    try:
        return serialize(message, context)
    except MessageRejectedError as error:
        pointers: list[str] = [issue.pointer for issue in error.issues]
        raise SystemExit(f"{error.format}: {pointers}") from error


def received(value: bytes, context: SerializationContext) -> aerospike_json.Message | None:
    """Return the model of the value of a Kafka record; None where it is refused."""
    try:
        message: aerospike_json.Message = ChangewireDeserializer(strip_registry_prefix=True)(
            value, context
        )
    except SerializationError:
        return None
    return message


def announced(header: SchemaHeader, *, is_key: bool) -> tuple[str, str]:
    """Return name and text of the header that names a message's schema."""
    texts: tuple[str, str, str] = (header.format, header.variant, header.schema)
    return HEADERS[is_key], "; ".join(texts)
