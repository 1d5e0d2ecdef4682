"""What ``kcat -J`` prints: a line for each Kafka record, a JSON object around its text."""

import json
from collections.abc import Iterator
from typing import Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from changewire.framing.record import Damage, Position, Record
from changewire.framing.scan import BLANK
from changewire.framing.source import Source
from changewire.framing.text import lines

T = TypeVar("T")
_Headers: TypeAlias = list[str | None] | dict[str, list[str | None]]
_NO_TIMESTAMP: Final = -1


class Envelope(msgspec.Struct, frozen=True):
    """The object on a line of ``kcat -J``, as far as it is used; the names are kcat's.

    kcat writes `key` and `payload` always, null where there is none. It adds `key_error` or
    `payload_error` to a null that represents bytes that it failed to turn into text. Headers are a
    flat list (name, value, name, value), or by an option a map from name to values.
    """

    topic: str
    partition: int
    offset: int
    ts: int | None = None
    headers: _Headers | None = None
    key: str | UnsetType | None = UNSET
    payload: str | UnsetType | None = UNSET
    key_error: str | None = None
    payload_error: str | None = None


def kcat(source: Source, limit: int) -> Iterator[Record]:
    """Yield the Kafka record of every line that is not blank.

    Raises:
        Damage: a line is not such an object or is longer than `limit` bytes, or the source is
            damaged.
    """
    number = 0
    for line in lines(source.text(), limit):
        if not line.strip(BLANK):
            continue
        try:
            record = _record(parse(line, Envelope), source.path, number)
        except ValueError as error:
            raise Damage(
                f"the line is not what kcat -J prints ({error}); correct it, or name the shape"
            ) from error
        yield record
        number += 1


def parse(line: bytes, shape: type[T]) -> T:
    """Return `line`, JSON in which kcat left bytes that are not UTF-8 as they are, as a `shape`.

    Such a byte becomes a surrogate, which ``surrogateescape`` turns into the byte again.

    Raises:
        ValueError: the line is not JSON, or not of this shape.
    """
    try:
        try:
            return msgspec.json.decode(line, type=shape)
        except UnicodeDecodeError:
            text = line.decode("utf-8", "surrogateescape")
            return msgspec.convert(json.loads(text), type=shape)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def is_kcat(line: bytes) -> bool:
    """Return whether `line` is a JSON object that has the keys of ``kcat -J``."""
    try:
        keys = parse(line, dict[str, object]).keys()
    except ValueError:
        return False
    return keys >= {"topic", "partition", "offset"} and not keys.isdisjoint({"key", "payload"})


def _record(envelope: Envelope, path: str, number: int) -> Record:
    if envelope.key is UNSET and envelope.payload is UNSET:
        raise ValueError("it has neither key nor payload")
    if envelope.key_error is not None or envelope.payload_error is not None:
        raise ValueError("kcat could not decode the record: run it without -s")
    timestamp = None if envelope.ts == _NO_TIMESTAMP else envelope.ts
    position = Position(
        envelope.topic, envelope.partition, envelope.offset, timestamp, path, number
    )
    key, value = _bytes(envelope.key), _bytes(envelope.payload)
    return Record(key, value, position, tuple(_headers(envelope.headers)))


def _headers(headers: _Headers | None) -> Iterator[tuple[str, bytes | None]]:
    if isinstance(headers, dict):
        for name, values in headers.items():
            yield from ((name, _bytes(value)) for value in values)
        return
    flat = headers or []
    if len(flat) % 2:
        raise ValueError("its headers are not pairs of name and value")
    for header, value in zip(flat[::2], flat[1::2], strict=True):
        if header is None:
            raise ValueError("the name of a header is null")
        yield header, _bytes(value)


def _bytes(text: str | UnsetType | None) -> bytes | None:
    if text is None or isinstance(text, UnsetType):
        return None
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError("its text has half a surrogate pair") from error
