"""What ``kcat -J`` prints: a JSON object around the text of each Kafka record."""

from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

from changewire.framing.envelopes import Printed, has_keys, records, to_bytes, to_timestamp
from changewire.framing.record import Position, Record
from changewire.framing.source import Source

_Headers: TypeAlias = list[str | None] | dict[str, list[str | None]]
_TOOL: Final = "kcat -J"


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The object that ``kcat -J`` prints; the names are kcat's.

    kcat writes `key` and `payload` always, null where there is none. It adds `key_error` or
    `payload_error` to a null if it failed to turn bytes into text, and the ids of schemas to
    content that it decoded. Headers are a flat list (name, value, name, value), or by an
    option a map from name to values.
    """

    topic: str
    partition: int
    offset: int
    payload: str | None
    tstype: str | None = None
    ts: int | None = None
    broker: int | None = None
    headers: _Headers | None = None
    key: str | None = None
    key_error: str | None = None
    payload_error: str | None = None
    key_schema_id: int | None = None
    value_schema_id: int | None = None


def kcat(source: Source, limit: int) -> Iterator[Record]:
    """Yield the Kafka record of every object; the arguments and errors are those of `records`."""
    return records(source, limit, _TOOL, Envelope, _record)


def is_kcat(text: bytes) -> bool:
    """Return whether a text is a JSON object that has the keys of ``kcat -J``."""
    return has_keys(text, "topic", "partition", "offset", "payload")


def _record(envelope: Envelope, at: Printed) -> Record:
    if envelope.key_error is not None or envelope.payload_error is not None:
        raise ValueError("kcat could not decode the record: run it without -s")
    position = Position(
        envelope.topic, envelope.partition, envelope.offset, to_timestamp(envelope.ts), *at
    )
    key, value = to_bytes(envelope.key), to_bytes(envelope.payload)
    return Record(key, value, position, tuple(_headers(envelope.headers)))


def _headers(headers: _Headers | None) -> Iterator[tuple[str, bytes | None]]:
    if isinstance(headers, dict):
        for name, found in headers.items():
            yield from ((name, to_bytes(value)) for value in found)
        return
    flat = headers or []
    if len(flat) % 2:
        raise ValueError("its headers are not pairs of name and value")
    for header, value in zip(flat[::2], flat[1::2], strict=True):
        if header is None:
            raise ValueError("the name of a header is null")
        yield header, to_bytes(value)
