"""Messages of a topic, gathered and decoded until they are enough for a commit of the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.decode import Decoder
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.stream.options import LocalStream
from changewire.engines.stream.positions import Positions
from changewire.engines.stream.reader import TopicReader
from changewire.engines.stream.source import Place
from changewire.engines.times import shown_times

if TYPE_CHECKING:
    from confluent_kafka import Message

_PART: Final = 16_384
_PART_BYTES: Final = 4 * 2**20
"""Messages, or bytes of them, that are decoded together, or taken from the client at once."""

_BATCH_BYTES: Final = 64 * 2**20
"""Bytes of decoded rows from which on a batch ends."""

_IDLE: Final = 1.0
"""Seconds without a message after which other work is looked for."""

_UNREADABLE: Final = (SystemError, UnicodeDecodeError)
"""What the client raises if the name of a header is not UTF-8."""

_NO_TIME: Final = 0
"""Kind of the time of a message that has no time."""


@dataclass
class Batch:
    """Decoded rows.

    Attributes:
        messages: How many messages they are of.
        rows: The rows, in parts.
        size: Their bytes.
        newest: Time of the newest message, in milliseconds since 1970; None without one that a
            table can show.
        seconds: How long reading and decoding took, without waiting for messages.
    """

    messages: int = 0
    rows: list[pa.RecordBatch] = field(default_factory=list)
    size: int = 0
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
        self._pending = Records()
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
        return messages >= self._options.batch_size or batch.size >= _BATCH_BYTES

    def _read(self, most: int) -> int:
        """Read messages, and return how many the log lacks."""
        positions, before = self._positions, len(self._pending)
        found = self._reader.read(min(most, self._at_once))
        columns = {name: [*map(read, found.messages)] for name, read in _READ.items()}
        columns["headers"] = [*map(self._headers_of, found.messages)]
        sizes = [*map(_size_of, columns["value"], columns["key"], columns["headers"])]
        self._size += sum(sizes)
        if sizes:  # the next ones may be as large
            self._at_once = max(_PART_BYTES // max(sizes), 1)
        first = 0
        for of, run in groupby(map(_place_of, found.messages)):
            place, stop = Place(*of), first + len([*run])
            wanted = positions.take(place, columns["offset"][first:stop])
            self._pending.add(place, {n: read[first:stop][wanted] for n, read in columns.items()})
            first = stop
            if positions.is_done(place):
                self._reader.pause(place)
        for place, end in found.ends.items():
            positions.reach(place, end)
        if found.lost:
            self._find_again(found.lost)
        return len(self._pending) - before

    def _headers_of(self, message: Message) -> list[dict[str, Any]] | None:
        """Return the headers of a message; None without any, or if the client cannot read them."""
        try:
            found: Any = message.headers()
        except _UNREADABLE:
            place, notice = Place(*_place_of(message)), self._options.listener.notice
            if notice is not None:
                text = "the name of a header is not UTF-8, so its headers are left out"
                notice(f"{place}: offset {message.offset()}: {text}")
            return None
        return [{"key": key, "value": value} for key, value in found] if found else None

    def _find_again(self, places: set[Place]) -> None:
        """Read partitions behind the records that they lost, unless that ends the stream."""
        for place in sorted(places):
            self._positions.check(place, self._reader)
        self._reader.assign(self._positions.unread)

    def _decode(self, batch: Batch) -> None:
        if not len(self._pending):
            return
        records = self._pending.batch()
        self._pending, self._size = Records(), 0
        batch.messages += len(records)
        for rows in self._decoder(records):
            batch.rows.append(rows)
            batch.size += rows.nbytes
        microseconds = pc.max(records.column("timestamp").cast(pa.int64())).as_py()
        if microseconds is not None:
            newest = microseconds // 1000
            batch.newest = newest if batch.newest is None else max(newest, batch.newest)


class Records:
    """Messages by the columns that are decoded, without the client's objects.

    To keep thousands of these costs more than to read them: the garbage collector visits each.
    """

    def __init__(self) -> None:
        """Begin without a message."""
        names = (*Place._fields, *_READ, "headers")
        self._columns: dict[str, list[Any]] = {name: [] for name in names}

    def __len__(self) -> int:
        """Return how many messages they are."""
        return len(self._columns["value"])

    def add(self, place: Place, columns: Mapping[str, list[Any]]) -> None:
        """Add messages of a partition, by their other columns."""
        number = len(columns["value"])
        of_place = {name: [value] * number for name, value in place._asdict().items()}
        for name, values in {**of_place, **columns}.items():
            self._columns[name] += values

    def batch(self) -> pa.RecordBatch:
        """Return them as a batch of the columns that are decoded."""
        times = pa.array(self._columns["timestamp"], pa.int64())
        columns = {**self._columns, "timestamp": shown_times(times)}
        nothing = [None] * len(self)
        return pa.RecordBatch.from_pydict(
            {n: pa.array(columns.get(n, nothing), kind) for n, kind in INPUT_COLUMNS.items()}
        )


def _time_of(message: Message) -> int | None:
    """Return the time of a message, in milliseconds since 1970; None without one."""
    kind, time = message.timestamp()
    return None if kind == _NO_TIME else time


def _place_of(message: Message) -> tuple[str, int]:
    return message.topic() or "", message.partition() or 0


def _size_of(
    value: bytes | None, key: bytes | None, headers: Sequence[Mapping[str, Any]] | None
) -> int:
    """Return the bytes of a message, at least one."""
    size = len(value or b"") + len(key or b"") + 1
    return size + sum(len(one["value"] or b"") for one in headers) if headers else size


_READ: Final[Mapping[str, Callable[[Message], Any]]] = {
    **{name: methodcaller(name) for name in ("value", "key", "offset")},
    "timestamp": _time_of,
}
"""How further columns of a message are read, but its headers."""
