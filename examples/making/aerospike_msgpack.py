"""The shop and its devices as Aerospike Connect sends them in MessagePack."""

from random import Random
from typing import Any, Final

from examples.making.aerospike_damages import GOOD
from examples.making.history import history, with_batches
from examples.making.packing import legacy, pack, packed, parts
from examples.making.schemas import examples
from examples.making.shapes import among, keyed, length_prefixed, parquet


def files() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    rng = Random(20260102)  # noqa: S311 - made-up people, no secrets
    orders = [packed(message) for message in with_batches(rng, history(rng, "orders", 150))]
    users = [packed(message) for message in history(rng, "users", 200)]
    users.append(_with((2, 4, 1, 2), 64))  # a flag that the document does not define
    users.append(_with((2, 0, 3), 1.5))  # a user key that is none of its types
    users.append(_with((2, 3), 1617167159))  # a time in seconds
    newer: Any = parts(GOOD)
    newer[2].append("eu-west")  # a position that the document does not have
    users.append(pack(newer))
    readings = [legacy(message) for message in history(rng, "readings", 300)]
    whole = [damaged for _, damaged in DAMAGES[:4]]
    broken = [damaged for _, damaged in DAMAGES[4:]]
    variants = ("write", "delete", "legacy_delete", "batch")
    return {
        "document.msgpack": b"".join(map(bytes.fromhex, examples("aerospike_msgpack", *variants))),
        "orders.msgpack": b"".join(among(orders, whole)),
        "users.prefixed.msgpack": length_prefixed(among(users, [*broken[:5], None])),
        "readings.parquet": parquet(
            "aerospike.old", keyed("reading", among(readings, [*broken[5:], None, pack([])]))
        ),
    }


def _with(place: tuple[int, ...], value: object) -> bytes:
    """Return the good message with another value at a place."""
    message: Any = parts(GOOD)
    *above, last = place
    found = message
    for index in above:
        found = found[index]
    found[last] = value
    return pack(message)


_WRITE: Final = pack(parts(GOOD))
_NAME: Final = "Zoë".encode()

DAMAGES: Final[tuple[tuple[str, bytes], ...]] = (
    # These can stand back to back: where each of them ends is certain.
    ("unknown-variant", _with((1,), 3)),
    ("wrong-type", _with((2, 1), "3")),
    ("wrong-length", _with((2, 0, 2), b"short")),
    ("duplicate-column", _with((2, 4, 1, 0), "name")),
    ("truncated", _WRITE[:-9]),
    ("trailing-data", _WRITE + b"\x00"),
    ("invalid-unicode", _WRITE.replace(_NAME, b"Zo\xff\xff")),
    ("invalid-msgpack", _WRITE[:-1] + b"\xc1"),
    ("empty", b""),
    ("duplicate-key", _with((2, 4, 1), ["prefs", 19, 0, {"a": 1, "b": 2}]).replace(b"b", b"a")),
    ("out-of-range", _with((2, 3), 2**60)),
    ("trailing-data", b'{"msg":"write"}'),
)
"""The code by which each damaged message is rejected."""
