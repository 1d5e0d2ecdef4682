"""Messages of a topic, gathered and decoded until they are enough for a commit of the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from changewire.engines.decode import Decoder
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.stream.options import LocalStream
from changewire.engines.stream.positions import Positions
from changewire.engines.stream.reader import TopicReader
from changewire.engines.stream.source import Place
from changewire.engines.times import shown_time

if TYPE_CHECKING:
    from confluent_kafka import Message

_PART: Final = 16_384
_PART_BYTES: Final = 4 * 2**20
"""Messages, or bytes of them, that are decoded together, or taken from the client at once."""

_BATCH_BYTES: Final = 64 * 2**20
"""Bytes of decoded rows from which on a batch ends."""

_IDLE: Final = 1.0
"""Seconds without a message after which other work is looked for."""

_NO_TIME: Final = 0
"""Kind of the time of a message that has no time."""


@dataclass
class Batch:
    """Decoded rows.

    Attributes:
        messages: How many messages they are of.
        rows: The rows, in parts.
        newest: Time of the newest message, in milliseconds since 1970; None without one.
        seconds: How long reading and decoding took, without waiting for messages.
    """

    messages: int = 0
    rows: list[pa.RecordBatch] = field(default_factory=list)
    newest: int | None = None
    seconds: float = 0.0

    def table(self, schema: pa.Schema) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(self.rows, self.rows[0].schema if self.rows else schema)


class Gathering:
    """Gathers batches of a topic."""

    def __init__(
        self, reader: TopicReader, positions: Positions, decoder: Decoder, options: LocalStream
    ) -> None:
        """Take what is read, and how far."""
        self._reader, self._positions, self._decoder = reader, positions, decoder
        self._options = options
        self._pending: list[Message] = []
        self._size, self._at_once = 0, 1

    def __call__(self, is_over: Callable[[], bool]) -> Batch:
        """Return a batch; an empty one if there was nothing for a while."""
        batch, started, first = Batch(), time.monotonic(), None
        while True:
            begun = time.perf_counter()
            found = self._read(self._options.batch_size - batch.messages - len(self._pending))
            if found and first is None:
                first = time.monotonic()
            if len(self._pending) >= _PART or self._size >= _PART_BYTES:
                self._decode(batch)
            if found:
                batch.seconds += time.perf_counter() - begun
            if is_over() or self._positions.are_done or self._is_full(batch):
                break
            since = time.monotonic() - (started if first is None else first)
            if since >= (_IDLE if first is None else self._options.batch_every):
                break
        begun = time.perf_counter()
        self._decode(batch)
        batch.seconds += time.perf_counter() - begun
        return batch

    def _is_full(self, batch: Batch) -> bool:
        messages = batch.messages + len(self._pending)
        size = sum(part.nbytes for part in batch.rows)
        return messages >= self._options.batch_size or size >= _BATCH_BYTES

    def _read(self, most: int) -> int:
        """Read messages, and return how many the log lacks."""
        positions, before = self._positions, len(self._pending)
        found = self._reader.read(min(most, self._at_once))
        sizes = [_size_of(message) for message in found.messages]
        if sizes:  # the next ones may be as large
            self._at_once = max(_PART_BYTES // max(sizes), 1)
        for message, size in zip(found.messages, sizes, strict=True):
            place = Place(message.topic() or "", message.partition() or 0)
            if positions.take(place, message.offset() or 0):
                self._pending.append(message)
                self._size += size
            elif positions.is_done(place):
                self._reader.pause(place)
        for place, end in found.ends.items():
            positions.reach(place, end)
        if found.lost:
            self._find_again(found.lost)
        return len(self._pending) - before

    def _find_again(self, places: set[Place]) -> None:
        """Read partitions behind the records that they lost, unless that ends the stream."""
        for place in sorted(places):
            self._positions.check(place, self._reader)
        self._reader.assign(self._positions.unread)

    def _decode(self, batch: Batch) -> None:
        if not self._pending:
            return
        messages, self._pending, self._size = self._pending, [], 0
        records = to_batch(messages)
        batch.messages += len(messages)
        batch.rows += self._decoder(records)
        times = (found[1] for found in map(_time_of, messages) if found[0] != _NO_TIME)
        newest = max(times, default=None)
        if newest is not None:
            batch.newest = max(newest, batch.newest or newest)


def to_batch(messages: Sequence[Message]) -> pa.RecordBatch:
    """Return messages as a batch of the columns that are decoded."""
    times = map(_time_of, messages)
    columns: dict[str, list[Any]] = {
        "value": [message.value() for message in messages],
        "key": [message.key() for message in messages],
        "topic": [message.topic() for message in messages],
        "partition": [message.partition() for message in messages],
        "offset": [message.offset() for message in messages],
        "timestamp": [None if kind == _NO_TIME else shown_time(at) for kind, at in times],
        "headers": [_headers_of(message) for message in messages],
    }
    nothing = [None] * len(messages)
    return pa.RecordBatch.from_pydict(
        {name: pa.array(columns.get(name, nothing), kind) for name, kind in INPUT_COLUMNS.items()}
    )


def _time_of(message: Message) -> tuple[int, int]:
    """Return the kind of a message's time, and the time in milliseconds."""
    return message.timestamp()


def _size_of(message: Message) -> int:
    """Return the bytes of a message, at least one."""
    headers: Any = message.headers()
    size = len(message.value() or b"") + len(message.key() or b"") + 1
    return size + sum(len(value or b"") for _, value in headers) if headers else size


def _headers_of(message: Message) -> list[dict[str, Any]] | None:
    found: Any = message.headers()
    return [{"key": key, "value": value} for key, value in found] if found else None
