"""Make the example messages: two days of a small shop and its devices, as Aerospike sends them.

``python -m examples.make_messages`` writes ``examples/aerospike_json/`` anew, the same messages
each time. Every variant, bin type and leniency of the format occurs, in each shape that a file can
have, and 25 messages are damaged on purpose.
"""

import gzip
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from examples.making.damages import DAMAGES, GOOD, text
from examples.making.history import START, history, with_batches

ROOT: Final = Path(__file__).resolve().parent
FOLDER: Final = ROOT / "aerospike_json"
SCHEMAS: Final = ROOT.parent / "schemas" / "aerospike_json"

_COLUMNS: Final[dict[str, pa.DataType]] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("ms", tz="UTC"),
}


def files() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    rng = Random(20260101)  # noqa: S311 - made-up people, no secrets
    damaged = [damage(GOOD) for _, damage in DAMAGES]
    users = _encoded(with_batches(rng, history(rng, "users", 700)))
    orders = _encoded(with_batches(rng, history(rng, "orders", 500)))
    sessions = _encoded(history(rng, "sessions", 500))
    devices = _encoded(history(rng, "devices", 300))
    readings = _encoded(history(rng, "readings", 700))
    return {
        "document.jsonl": _lines(text(example) for example in _of_the_document()),
        "users.jsonl": _lines(_mixed(users, damaged[:12])),
        "orders.jsonl.gz": gzip.compress(_lines(_mixed(orders, damaged[12:18])), mtime=0),
        "sessions.kcat.jsonl": _lines(_kcat(_mixed(sessions, [damaged[18], None]))),
        "devices.json": b"[\n" + b",\n".join(devices) + b"\n]\n",
        "readings.parquet": _parquet(_mixed(readings, [*damaged[19:], None, b"[]"])),
    }


def _of_the_document() -> Iterator[Any]:
    """Yield the examples of the schemas: those of the format's document, and some more."""
    for name in ("write", "delete", "batch"):
        yield from json.loads((SCHEMAS / f"{name}.json").read_bytes())["examples"]


def _encoded(messages: Iterable[object]) -> list[bytes]:
    return [text(message) for message in messages]


def _mixed(good: Sequence[bytes], others: Sequence[bytes | None]) -> Iterator[bytes | None]:
    """Yield the messages with the others among them, evenly."""
    step = len(good) // (len(others) + 1) + 1
    rest = iter(others)
    for number, message in enumerate(good, start=1):
        yield message
        if number % step == 0:
            yield next(rest)


def _lines(messages: Iterable[bytes | None]) -> bytes:
    return b"".join(message + b"\n" for message in messages if message is not None)


def _kcat(values: Iterable[bytes | None]) -> Iterator[bytes]:
    """Yield Kafka records as ``kcat -J`` prints them."""
    for offset, value in enumerate(values):
        yield text(
            {
                "topic": "aerospike.shop",
                "partition": offset % 3,
                "offset": offset // 3,
                "tstype": "create",
                "ts": START + offset * 1000,
                "broker": 1,
                "headers": ["source", "xdr"] if offset % 10 == 0 else [],
                "key": f"session-{offset}",
                "payload": None if value is None else value.decode(),
            }
        )


def _parquet(values: Iterable[bytes | None]) -> bytes:
    """Return Kafka records as Spark's Kafka source names their columns."""
    rows = [
        {
            "key": b"reading-%d" % offset,
            "value": value,
            "topic": "aerospike.iot",
            "partition": 0,
            "offset": offset,
            "timestamp": datetime.fromtimestamp(START // 1000 + offset, timezone.utc),
        }
        for offset, value in enumerate(values)
    ]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(_COLUMNS)), file, compression="zstd")
    return file.getvalue()


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for name, content in files().items():
        (FOLDER / name).write_bytes(content)
        print(f"{name:20} {len(content):9,} bytes")


if __name__ == "__main__":
    main()
