"""Two days of a small shop and its devices, as Aerospike Connect sends them in JSON."""

import gzip
from collections.abc import Iterable
from random import Random
from typing import Final

from examples.making.aerospike_damages import DAMAGES, GOOD
from examples.making.history import digest, history, with_batches
from examples.making.rows import Json
from examples.making.schemas import examples
from examples.making.shapes import among, kcat, keyed, lines, parquet, text


def files() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    rng = Random(20260101)  # noqa: S311 - made-up people, no secrets
    damaged = [damage(GOOD) for _, damage in DAMAGES]
    users = _encoded(with_batches(rng, history(rng, "users", 700)))
    orders = _encoded(with_batches(rng, history(rng, "orders", 500)))
    sessions = _encoded(history(rng, "sessions", 500))
    devices = _encoded(history(rng, "devices", 300))
    readings = _encoded(history(rng, "readings", 700))
    session_records = keyed("session", among(sessions, [damaged[18], None]))
    reading_records = keyed("reading", among(readings, [*damaged[19:], None, b"[]"]))
    return {
        "document.jsonl": lines(map(text, [*_documented(), *LENIENT])),
        "users.jsonl": lines(among(users, damaged[:12])),
        "orders.jsonl.gz": gzip.compress(lines(among(orders, damaged[12:18])), mtime=0),
        "sessions.kcat.jsonl": kcat("aerospike.shop", "xdr", session_records),
        "devices.json": b"[\n" + b",\n".join(devices) + b"\n]\n",
        "readings.parquet": parquet("aerospike.iot", reading_records),
    }


def _documented() -> Iterable[object]:
    return examples("aerospike_json", "write", "delete", "batch")


def _encoded(messages: Iterable[object]) -> list[bytes]:
    return [text(message) for message in messages]


LENIENT: Final[tuple[Json, ...]] = (
    {"msg": "write", "key": ["iot", "readings", digest("readings", 0), 1.5], "bins": []},
    {"msg": "delete", "key": ["iot", "readings", digest("readings", 0), None], "gen": 2},
    {"msg": "delete", "key": ["iot", "readings", digest("readings", 0), None], "lut": 1617167159},
)
"""Messages that lack what the document has, a user key of a type that it does not have, and a time
in seconds."""
