"""Serializers of Kafka clients beside those of confluent-kafka that validate JSON Schema.

The schema registry is the one in memory that confluent-kafka brings (``mock://``): it is asked once
for the schema, and every message after that is served from its cache, as with a real one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from benchmarks import messages
from benchmarks.tables import Result, timed
from benchmarks.timing import Action, Timing, compare
from changewire.kafka import ChangewireDeserializer, ChangewireSerializer

# Their constructors are made at run time, where type checkers do not see them.
SERIALIZER: Any = JSONSerializer
DESERIALIZER: Any = JSONDeserializer

LEAST = 20
"""At least so many times the rate of the peer that validates."""

THEIRS_WRITE, THEIRS_READ = "JSONSerializer, validate=True", "JSONDeserializer, validate=True"
OURS_WRITE, OURS_READ = "ChangewireSerializer, a dictionary", "ChangewireDeserializer"
HEADER = "ChangewireSerializer, a model, with header"


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield a table for each size and direction."""
    for size, message in (("0.35 KB", messages.small()), ("2 KB", messages.large())):
        for title, ours, theirs, actions in (
            ("Validate and send", OURS_WRITE, THEIRS_WRITE, writers(message)),
            ("Receive and validate", OURS_READ, THEIRS_READ, readers(message)),
        ):
            found = compare(actions, rounds=rounds, seconds=seconds)
            yield timed(f"{title}, {size}", found, ours, verdict(found[ours], found[theirs]))


def writers(message: dict[str, Any]) -> dict[str, Action]:
    """Return what makes bytes of a message, by name; all but the second also validate."""
    serialize = ChangewireSerializer(messages.FORMAT)
    headed = ChangewireSerializer(messages.FORMAT, header=True)
    model = ChangewireDeserializer(messages.FORMAT)(serialize(message))
    raw, (schema, registry) = messages.wire(message), _registry()
    theirs, unchecked = (
        SERIALIZER(schema, registry, conf={"validate": validate}) for validate in (True, False)
    )
    return {
        THEIRS_WRITE: lambda: theirs(message, context()),
        "JSONSerializer, validate=False": lambda: unchecked(message, context()),
        OURS_WRITE: lambda: serialize(message, context()),
        "ChangewireSerializer, bytes": lambda: serialize(raw, context()),
        "ChangewireSerializer, a model": lambda: serialize(model, context()),
        HEADER: lambda: headed(model, context()),
    }


def readers(message: dict[str, Any]) -> dict[str, Action]:
    """Return what makes objects of bytes, by name; all but the second also validate."""
    schema, registry = _registry()
    theirs, unchecked = (
        DESERIALIZER(schema, schema_registry_client=registry, conf={"validate": validate})
        for validate in (True, False)
    )
    framed = SERIALIZER(schema, registry)(message, context())
    plain, told = messages.wire(message), ChangewireDeserializer(messages.FORMAT)
    headed, asked = context(), ChangewireDeserializer()
    ChangewireSerializer(messages.FORMAT, header=True)(plain, headed)
    return {
        THEIRS_READ: lambda: theirs(framed, context()),
        "JSONDeserializer, validate=False": lambda: unchecked(framed, context()),
        OURS_READ: lambda: told(plain, context()),
        "ChangewireDeserializer, the header tells the format": lambda: asked(plain, headed),
    }


def context() -> SerializationContext:
    """Return what a client says of a value, anew for each as a client does."""
    return SerializationContext("topic", MessageField.VALUE, [])


def verdict(ours: Timing, theirs: Timing) -> str:
    """Return a sentence on the rate beside the peer's."""
    rate = theirs.ratio(ours)[0]
    word = "reached" if rate >= LEAST else "missed"
    return f"To reach: at least {LEAST} times the rate of the peer. Found {rate:.0f}: {word}."


def _registry() -> tuple[str, SchemaRegistryClient]:
    """Return the schema of the format's messages, and a registry."""
    registry = SchemaRegistryClient.new_client({"url": "mock://benchmark"})
    return json.dumps(messages.schema("message")), registry
