"""What ``rpk topic consume`` prints: a JSON object around the text of each Kafka record."""

from collections.abc import Iterator
from typing import Final

import msgspec

from changewire.framing.envelopes import Printed, has_keys, records, to_bytes, to_timestamp
from changewire.framing.record import Position, Record
from changewire.framing.source import Source

_TOOL: Final = "rpk topic consume"


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A header of a record."""

    key: str
    value: str | None = None


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The object that rpk prints; the names are rpk's.

    rpk leaves out a key, a value and headers that a record does not have. With ``--meta-only`` it
    writes the size of the value instead of the value.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: str | None = None
    value: str | None = None
    value_size: int | None = None
    headers: list[Header] | None = None


def rpk(source: Source, limit: int) -> Iterator[Record]:
    """Yield the Kafka record of every object; the arguments and errors are those of `records`."""
    return records(source, limit, _TOOL, Envelope, _record)


def is_rpk(text: bytes) -> bool:
    """Return whether a text is a JSON object that has the keys that rpk always writes."""
    return has_keys(text, "topic", "partition", "offset", "timestamp")


def _record(envelope: Envelope, at: Printed) -> Record:
    if envelope.value_size is not None:
        raise ValueError("it has the size of the value only: run rpk without --meta-only")
    time = to_timestamp(envelope.timestamp)
    position = Position(envelope.topic, envelope.partition, envelope.offset, time, *at)
    key, value = to_bytes(envelope.key), to_bytes(envelope.value)
    headers = ((one.key, to_bytes(one.value)) for one in envelope.headers or ())
    return Record(key, value, position, tuple(headers))
