"""Twenty-five ways in which a message can be damaged, and the code of each."""

import json
from collections.abc import Callable
from typing import Final

from examples.making.history import START, digest
from examples.making.rows import Json, a_bin, base64

Damage = Callable[[Json], bytes]

GOOD: Final[Json] = {
    "msg": "write",
    "key": ["shop", "users", digest("users", 1), None],
    "gen": 3,
    "exp": 0,
    "lut": START,
    "bins": [a_bin("name", "str", "Zoë"), a_bin("visits", "int", 12)],
}
"""What each damage is done to."""


def text(value: object) -> bytes:
    """Return compact JSON, as the connector writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _with(**values: object) -> Damage:
    """Return a damage that sets properties."""
    return lambda m: text({**m, **values})


def _without(name: str) -> Damage:
    """Return a damage that takes a property away."""
    return lambda m: text({key: value for key, value in m.items() if key != name})


def _with_bin(one: Json) -> Damage:
    """Return a damage that adds a bin."""
    return lambda m: text({**m, "bins": [*m["bins"], one]})


def _in_bytes(old: bytes, new: bytes) -> Damage:
    """Return a damage that replaces bytes of the encoded message."""
    return lambda m: text(m).replace(old, new, 1)


def _one_of_a_batch(m: Json) -> bytes:
    """Damage the second of three messages of a batch; the others stay good."""
    return text([m, {**m, "bins": [a_bin("flag", "bool", 1)]}, m])


_ZOE: Final = "ë".encode()
_DEEP: Final = b"[" * 2000 + b"]" * 2000

DAMAGES: Final[tuple[tuple[str, Damage], ...]] = (
    ("truncated", lambda m: text(m)[:-40]),
    ("wrong-type", _with(gen="3")),
    ("missing-property", _without("lut")),
    ("invalid-base64", _with(key=["shop", "users", "not base64 at all!", None])),
    ("unknown-variant", _with(msg="upsert")),
    ("invalid-json", _in_bytes(b":12}", b":NaN}")),
    ("wrong-type", _one_of_a_batch),
    ("invalid-unicode", _in_bytes(_ZOE, b"\xeb")),
    ("out-of-range", _with(gen=-1)),
    ("duplicate-column", _with_bin(a_bin("name", "str", "Zoe"))),
    ("wrong-length", _with(key=["shop", "users", digest("users", 1)])),
    ("wrong-value", _with_bin(a_bin("prefs", "map", {}, order="descending"))),
    ("too-deep", _in_bytes(b'"type":"int","value":12', b'"type":"list","value":' + _DEEP)),
    ("truncated", lambda m: text(m)[:3]),
    ("wrong-type", _with(bins={"name": "Zoë"})),
    ("missing-property", _with_bin({"name": "email", "type": "str"})),
    ("invalid-base64", _with_bin(a_bin("photo", "blob", "===="))),
    ("missing-property", _without("key")),
    ("invalid-json", lambda m: str(m).encode()),
    ("trailing-data", lambda m: text(m) + b" xyz"),
    ("invalid-unicode", _in_bytes(_ZOE, b"\\ud800")),
    ("out-of-range", _with_bin(a_bin("big", "int", 2**63))),
    ("wrong-length", _with(key=["shop", "users", base64(b"short"), None])),
    ("trailing-data", lambda m: text(m) * 2),
    ("empty", lambda _: b""),
)
"""The code by which each damaged message is refused, and how it is made of a good one."""
