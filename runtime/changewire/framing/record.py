"""What framing hands on: a record, its place, and why a file cannot be framed."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec


class Position(msgspec.Struct, frozen=True, gc=False):
    """Place of a record. Every field is None if the input lacks it.

    Attributes:
        topic: Kafka topic.
        partition: Kafka partition.
        offset: Kafka offset.
        timestamp: Kafka timestamp, in milliseconds since the epoch.
        path: path of the file the record was read from, ``-`` for standard input.
        number: number of the record in that file, counted from 0.
    """

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    timestamp: int | None = None
    path: str | None = None
    number: int | None = None


class Record(msgspec.Struct, frozen=True):
    """One message as it was found, not interpreted.

    Attributes:
        key: bytes of the Kafka record key; None without one.
        value: bytes of the message; None for a Kafka record without value (a tombstone).
        position: place of the record.
        headers: Kafka record headers, as (name, value), in their order.
    """

    key: bytes | None
    value: bytes | None
    position: Position
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Lines(NamedTuple):
    """Messages that follow one another in a file, each a line of it.

    Attributes:
        path: path of the file, ``-`` for standard input.
        number: number of the first of them in that file, counted from 0.
        values: the messages.
    """

    path: str
    number: int
    values: list[bytes]

    def records(self) -> Iterator[Record]:
        """Yield a record for each message."""
        for number, value in enumerate(self.values, self.number):
            yield Record(None, value, Position(path=self.path, number=number))


def numbered(path: str, values: Iterable[bytes | None]) -> Iterator[Record]:
    """Yield a record for each value of the file at `path`, with its number."""
    for number, value in enumerate(values):
        yield Record(None, value, Position(path=path, number=number))


class FramingError(Exception):
    """A file cannot be read, or not beyond some record. Its earlier records were handed out.

    Attributes:
        path: path of the file, ``-`` for standard input.
        number: number of the first record that could not be read, counted from 0; None where
            the trouble is with the file as a whole.
        reason: what is wrong and what to do about it.
    """

    def __init__(self, path: str, number: int | None, reason: str) -> None:
        """Keep path, record number and reason; all three also survive pickling."""
        super().__init__(path, number, reason)
        self.path = path
        self.number = number
        self.reason = reason

    def __str__(self) -> str:
        """Return one sentence: file, record number if known, what is wrong, what to do."""
        file = "standard input" if self.path == "-" else self.path
        where = file if self.number is None else f"{file}, record {self.number} (the first is 0)"
        return f"{where}: {self.reason}"


class Damage(Exception):  # noqa: N818 - it never leaves this package: `read` adds path and number
    """The input cannot be read beyond the last record; the text says why, and what to do."""


def too_long(limit: int) -> Damage:
    """Return the damage of a record with more than `limit` bytes."""
    return Damage(
        f"the record is longer than {limit} bytes; if it really is one message, raise"
        " max_record_bytes, else name the shape of the file"
    )
