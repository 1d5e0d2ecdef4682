"""What ``kcat -J`` and ``rpk topic consume`` print: JSON objects around texts of Kafka records.

An object is on a line, or over several.
"""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Final, TypeAlias, TypeVar

import msgspec

from changewire.framing.record import Damage, Position, Record
from changewire.framing.scan import BLANK, Scanner
from changewire.framing.source import Source
from changewire.framing.text import lines, values

T = TypeVar("T")
_NO_TIMESTAMP: Final = -1

_At: TypeAlias = tuple[str, int]
"""Path of the file, and the number of the record in it, counted from 0."""

_Partition: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_Headers: TypeAlias = list[str | None] | dict[str, list[str | None]]


class KcatEnvelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The object that ``kcat -J`` prints; the names are kcat's.

    kcat always writes `key` and `payload`, which are null if the record lacks them. It adds
    `key_error` or `payload_error` to a null if it failed to turn bytes into text, and the ids of
    schemas to content that it decoded. Headers are a flat list (name, value, name, value), or by an
    option a map from name to values.
    """

    topic: str
    partition: _Partition
    offset: _Offset
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


class RpkHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A header of a record."""

    key: str
    value: str | None = None


class RpkEnvelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The object that rpk prints; the names are rpk's.

    rpk leaves out a key, a value and headers that a record does not have. With ``--meta-only`` it
    writes the size of the value instead of the value.
    """

    topic: str
    partition: _Partition
    offset: _Offset
    timestamp: int
    key: str | None = None
    value: str | None = None
    value_size: int | None = None
    headers: list[RpkHeader] | None = None


def kcat(source: Source, limit: int) -> Iterator[Record]:
    """Yield the Kafka record of every object of kcat; the errors are those of `_records`."""
    return _records(source, limit, "kcat -J", KcatEnvelope, _of_kcat)


def rpk(source: Source, limit: int) -> Iterator[Record]:
    """Yield the Kafka record of every object of rpk; the errors are those of `_records`."""
    return _records(source, limit, "rpk topic consume", RpkEnvelope, _of_rpk)


def is_kcat(text: bytes) -> bool:
    """Return whether a text is a JSON object that has the keys of ``kcat -J``."""
    return _has_keys(text, "topic", "partition", "offset", "payload")


def is_rpk(text: bytes) -> bool:
    """Return whether a text is a JSON object that has the keys that rpk always writes."""
    return _has_keys(text, "topic", "partition", "offset", "timestamp")


def _records(
    source: Source, limit: int, tool: str, shape: type[T], record: Callable[[T, _At], Record]
) -> Iterator[Record]:
    """Yield the Kafka record of every object that a tool printed; `record` makes it.

    Raises:
        Damage: a value is not such an object or is longer than `limit` bytes, or the source is
            damaged.
    """
    for number, text in enumerate(_texts(source, limit)):
        try:
            found = record(_parsed(text, shape), (source.path, number))
        except ValueError as error:
            raise Damage(
                f"the record is not what {tool} prints ({error}); correct it, or name the shape"
            ) from error
        yield found


def _texts(source: Source, limit: int) -> Iterator[bytes]:
    """Return lines if the first one is a whole value, which is quicker, or values."""
    scanner = Scanner()
    if len(scanner.feed(source.first_lines(1)[0])) == 1 and not scanner.pending:
        return (line for line in lines(source.text(), limit) if line.strip(BLANK))
    return values(source.text(), limit)


def _parsed(text: bytes, shape: type[T]) -> T:
    """Return JSON, in which kcat left bytes that are not UTF-8 as they are, as a `shape`.

    Such a byte becomes a surrogate, which ``surrogateescape`` turns into the byte again.

    Raises:
        ValueError: the text is not JSON, or not of this shape.
    """
    try:
        try:
            return msgspec.json.decode(text, type=shape)
        except UnicodeDecodeError:
            return msgspec.convert(json.loads(text.decode("utf-8", "surrogateescape")), type=shape)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _has_keys(text: bytes, *names: str) -> bool:
    """Return whether a text is a JSON object that has some keys, and maybe others."""
    try:
        return _parsed(text, dict[str, object]).keys() >= {*names}
    except ValueError:
        return False


def _of_kcat(envelope: KcatEnvelope, at: _At) -> Record:
    if envelope.key_error is not None or envelope.payload_error is not None:
        raise ValueError("kcat could not decode the record: run it without -s")
    return _record(envelope, envelope.ts, envelope.payload, _headers(envelope.headers), at)


def _headers(headers: _Headers | None) -> Iterator[tuple[str, bytes | None]]:
    if isinstance(headers, dict):
        for name, found in headers.items():
            yield from ((name, _bytes(value)) for value in found)
        return
    flat = headers or []
    if len(flat) % 2:
        raise ValueError("its headers are not pairs of name and value")
    for header, value in zip(flat[::2], flat[1::2], strict=True):
        if header is None:
            raise ValueError("the name of a header is null")
        yield header, _bytes(value)


def _of_rpk(envelope: RpkEnvelope, at: _At) -> Record:
    if envelope.value_size is not None:
        raise ValueError("it has the size of the value only: run rpk without --meta-only")
    headers = ((one.key, _bytes(one.value)) for one in envelope.headers or ())
    return _record(envelope, envelope.timestamp, envelope.value, headers, at)


def _record(
    envelope: KcatEnvelope | RpkEnvelope,
    timestamp: int | None,
    value: str | None,
    headers: Iterator[tuple[str, bytes | None]],
    at: _At,
) -> Record:
    time = None if timestamp == _NO_TIMESTAMP else timestamp
    topic = _name(envelope.topic)
    position = Position(topic, envelope.partition, envelope.offset, time, *at)
    named = tuple((_name(name), content) for name, content in headers)
    return Record(_bytes(envelope.key), _bytes(value), position, named)


def _name(text: str) -> str:
    """Return the name of a topic or header, which is text, or raise a ValueError."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("the name of the topic or of a header is not UTF-8") from error
    return text


def _bytes(text: str | None) -> bytes | None:
    """Return the bytes that a text shows; None without one.

    Raises:
        ValueError: it has half a surrogate pair.
    """
    if text is None:
        return None
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError("its text has half a surrogate pair") from error
