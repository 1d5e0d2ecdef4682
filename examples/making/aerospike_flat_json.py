"""The shop and its devices as Aerospike Connect sends them in flat JSON."""

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any, Final

from examples.making.altering import Alteration, cut, having, lacking, replaced
from examples.making.history import START, digest, history, with_batches
from examples.making.rows import Json
from examples.making.schemas import examples
from examples.making.shapes import Record, among, kcat, lines, parquet, text


def files() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    rng = Random(20260106)  # noqa: S311 - made-up people, no secrets
    damaged = [damage(GOOD) for _, damage in DAMAGES]
    users = _encoded(with_batches(rng, history(rng, "users", 200)), "metadata")
    sessions = list(records(history(rng, "sessions", 200), "metadata"))
    readings = list(records(history(rng, "readings", 150), "meta"))
    odd: list[Record] = [*((b"damaged", one) for one in damaged[8:]), (b"nothing", None)]
    return {
        "document.jsonl": lines([*map(text, examples("aerospike_flat_json", "message", "batch"))]),
        "users.jsonl": lines([*among(users, damaged[:8]), *map(text, LENIENT)]),
        "sessions.kcat.jsonl": kcat("aerospike.shop", "xdr", sessions),
        "readings.parquet": parquet("aerospike.iot", among(readings, odd)),
    }


def flat(message: Json, name: str) -> Json:
    """Return a message in flat JSON; only newer producers call its metadata otherwise."""
    new = {key: message[key] for key in message if key not in _APART and name != "metadata"}
    bins = {one["name"]: one["value"] for one in message.get("bins", ())}
    return {name: {**metadata(message), **new}, **bins}


_APART: Final = frozenset({"msg", "key", "gen", "exp", "lut", "durable", "bins"})


def metadata(message: Json) -> Json:
    """Return what flat JSON says of a message of the JSON format, but for new properties."""
    times = {name: message.get(name) for name in ("gen", "lut", "exp")}
    found = {"msg": message["msg"], **key_of(message), **times, "durable": message.get("durable")}
    return {name: value for name, value in found.items() if value is not None}


def key_of(message: Json) -> Json:
    """Return the key of a record as an object without nulls."""
    namespace, name, found, user_key = message["key"]
    parts = {"namespace": namespace, "set": name, "userKey": user_key, "digest": found}
    return {name: value for name, value in parts.items() if value is not None}


def records(messages: Iterable[Json], name: str) -> Iterator[Record]:
    """Yield Kafka records, with the keys that the connector writes."""
    for message in messages:
        yield text(key_of(message)), text(flat(message, name))


def _encoded(messages: Iterable[Json | list[Json]], name: str) -> list[bytes]:
    return [
        text([flat(m, name) for m in one] if isinstance(one, list) else flat(one, name))
        for one in messages
    ]


GOOD: Final[Json] = {
    "metadata": {
        "msg": "write",
        "namespace": "shop",
        "set": "users",
        "digest": digest("users", 1),
        "gen": 3,
        "lut": START,
        "exp": 0,
    },
    "name": "Zoë",
    "visits": 12,
}
"""What each damage is done to."""

LENIENT: Final[tuple[Json, ...]] = tuple(
    {"metadata": {"msg": msg, "namespace": "iot", "digest": digest("readings", 0), **more}}
    for msg, more in (
        ("write", {"set": None, "userKey": None, "gen": 65_536, "lut": None, "exp": None}),
        ("delete", {"userKey": 7, "lut": 1617167159, "exp": -1}),
    )
)
"""Messages with nulls, an expiry, a generation and a time that the document does not have."""


def _meta(**values: Any) -> Alteration:
    return having("metadata", **values)


_ZOE: Final = "ë".encode()
_AGAIN: Final = b'"visits":12,"visits":12'

DAMAGES: Final[tuple[tuple[str, Callable[[Json], bytes]], ...]] = (
    ("truncated", cut(40)),
    ("wrong-type", _meta(gen="3")),
    ("missing-property", lacking("metadata")),
    ("invalid-base64", _meta(digest="not base64 at all!")),
    ("unknown-variant", _meta(msg="upsert")),
    ("duplicate-key", replaced(b'"visits":12', _AGAIN)),
    ("invalid-unicode", replaced(_ZOE, b"\xeb")),
    ("out-of-range", _meta(lut=-1)),
    ("missing-property", lacking("metadata", "digest")),
    ("rule-broken", having(old={**GOOD["metadata"], "gen": 2})),
    ("wrong-type", having(metadata=["write"])),
    ("trailing-data", lambda m: text(m) + b" xyz"),
)
"""The code by which each damaged message is refused, and how it is made of a good one."""
