"""Messages as files: lines, what kcat prints, MessagePack, and Parquet with Kafka's columns."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from itertools import islice
from typing import Final, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from examples.making.history import START

Record = tuple[bytes, bytes | None]
"""Key and value of a Kafka record."""

_COLUMNS: Final[dict[str, pa.DataType]] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("ms", tz="UTC"),
}

T = TypeVar("T")


def text(value: object) -> bytes:
    """Return compact JSON, as the connectors write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def among(good: Sequence[T], others: Sequence[T]) -> Iterator[T]:
    """Yield the messages with the others among them, evenly."""
    step = len(good) // (len(others) + 1) + 1
    rest = iter(others)
    for number, message in enumerate(good, start=1):
        yield message
        if number % step == 0:
            yield from islice(rest, 1)
    yield from rest


def keyed(name: str, values: Iterable[bytes | None]) -> Iterator[Record]:
    """Yield records whose keys are a name and a number, as a producer may choose."""
    for number, value in enumerate(values):
        yield f"{name}-{number}".encode(), value


def lines(messages: Iterable[bytes | None]) -> bytes:
    """Return messages as lines; one that is nothing has none."""
    return b"".join(message + b"\n" for message in messages if message is not None)


def length_prefixed(messages: Iterable[bytes | None]) -> bytes:
    """Return messages each behind its length, as ``kcat -f '%R%s'`` prints them."""
    return b"".join(
        (-1 if message is None else len(message)).to_bytes(4, "big", signed=True) + (message or b"")
        for message in messages
    )


def kcat(topic: str, source: str, records: Iterable[Record]) -> bytes:
    """Return Kafka records as ``kcat -J`` prints them; some have a header that names a source."""
    return lines(
        text(
            {
                "topic": topic,
                "partition": offset % 3,
                "offset": offset // 3,
                "tstype": "create",
                "ts": START + offset * 1000,
                "broker": 1,
                "headers": ["source", source] if offset % 10 == 0 else [],
                "key": key.decode(),
                "payload": None if value is None else value.decode(),
            }
        )
        for offset, (key, value) in enumerate(records)
    )


def parquet(topic: str, records: Iterable[Record]) -> bytes:
    """Return Kafka records as Spark's Kafka source names their columns."""
    rows = [
        {
            "key": key,
            "value": value,
            "topic": topic,
            "partition": 0,
            "offset": offset,
            "timestamp": datetime.fromtimestamp(START // 1000 + offset, timezone.utc),
        }
        for offset, (key, value) in enumerate(records)
    ]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(_COLUMNS)), file, compression="zstd")
    return file.getvalue()
