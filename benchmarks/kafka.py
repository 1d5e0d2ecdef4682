"""Serializers of Kafka clients beside those of confluent-kafka that validate JSON Schema.

The schema registry is the one in memory that confluent-kafka brings (``mock://``): it is asked once
for the schema, and every message after that is served from its cache, as with a real one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from benchmarks import formats
from benchmarks.tables import MICROSECONDS, Result
from benchmarks.timing import Action, Timing, compare
from changewire.kafka import ChangewireDeserializer, ChangewireSerializer
from changewire_messages import ENCODINGS, FORMATS
from changewire_messages.bundles import schema_of, schema_text

# Their constructors are made at run time, where type checkers do not see them.
SERIALIZER: Any = JSONSerializer
DESERIALIZER: Any = JSONDeserializer

LEAST = 20
"""At least so many times the rate of the peer that validates."""

THEIRS, UNCHECKED = "confluent-kafka, validate=True", "confluent-kafka, validate=False"
DICTIONARY, MODEL, DATA = "a dictionary", "a model", "bytes"
GIVEN, HEADER = "format given", "format from header"


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield a table for each direction, with a row for each message."""
    for title, make, ours in (
        ("Validate and send", writers, DICTIONARY),
        ("Receive and validate", readers, GIVEN),
    ):
        found = {
            f"{name}, {size} ({len(data)} bytes)": compare(
                make(name, data), rounds=rounds, seconds=seconds
            )
            for name in FORMATS
            if ENCODINGS[name] == "json"
            for size, data in formats.messages(name).items()
        }
        yield table(title, found, ours)


def writers(format: str, data: bytes) -> dict[str, Action]:
    """Return what makes bytes of a message, by name; all but the second also validate."""
    message, serialize = json.loads(data), ChangewireSerializer(format)
    model = ChangewireDeserializer(format)(data)
    theirs, unchecked = (serializer(format, validate=validate) for validate in (True, False))
    return {
        THEIRS: lambda: theirs(message, context()),
        UNCHECKED: lambda: unchecked(message, context()),
        DICTIONARY: lambda: serialize(message, context()),
        MODEL: lambda: serialize(model, context()),
        DATA: lambda: serialize(data, context()),
    }


def readers(format: str, data: bytes) -> dict[str, Action]:
    """Return what makes objects of bytes, by name; all but the second also validate."""
    theirs, unchecked = (deserializer(format, validate=validate) for validate in (True, False))
    framed = serializer(format, validate=True)(json.loads(data), context())
    given, asked, headed = ChangewireDeserializer(format), ChangewireDeserializer(), context()
    ChangewireSerializer(format, header=True)(data, headed)
    return {
        THEIRS: lambda: theirs(framed, context()),
        UNCHECKED: lambda: unchecked(framed, context()),
        GIVEN: lambda: given(data, context()),
        HEADER: lambda: asked(data, headed),
    }


def context() -> SerializationContext:
    """Return what a client says of a value, anew for each as a client does."""
    return SerializationContext("topic", MessageField.VALUE, [])


def table(title: str, found: Mapping[str, Mapping[str, Timing]], ours: str) -> Result:
    """Return the table of all messages, and how many times the peer's rate is reached."""
    rates = {name: timings[THEIRS].ratio(timings[ours]) for name, timings in found.items()}
    rows = [
        (
            name,
            *(f"{timing.best * MICROSECONDS:.1f}" for timing in timings.values()),
            "{:.0f} ({:.0f}-{:.0f})".format(*rates[name]),
        )
        for name, timings in found.items()
    ]
    least = min(rate for rate, _, _ in rates.values())
    word = "reached" if least >= LEAST else "missed"
    names = next(iter(found.values()))
    head = ("least, µs", *names, f"rate of {ours} to {THEIRS}")
    target = (
        f"To reach: at least {LEAST} times the rate of the peer. Least found {least:.0f}: {word}."
    )
    data = {name: {n: t.rounds for n, t in timings.items()} for name, timings in found.items()}
    return Result(title, head, rows, target, data)


def _schema(format: str) -> str:
    return schema_text(schema_of(FORMATS[format], "Message"))


@cache
def _registry(format: str) -> SchemaRegistryClient:
    """Return the registry of a format; what one peer registers the other one finds."""
    return SchemaRegistryClient.new_client({"url": f"mock://{format}"})


def serializer(format: str, *, validate: bool) -> Callable[..., Any]:
    """Return the peer that sends messages of a format."""
    made: Callable[..., Any] = SERIALIZER(
        _schema(format), _registry(format), conf={"validate": validate}
    )
    return made


def deserializer(format: str, *, validate: bool) -> Callable[..., Any]:
    """Return the peer that receives messages of a format."""
    made: Callable[..., Any] = DESERIALIZER(
        _schema(format), schema_registry_client=_registry(format), conf={"validate": validate}
    )
    return made
