"""Twenty-five ways in which a message of Aerospike can be damaged, and the code of each."""

from typing import Final

from examples.making.altering import Alteration, cut, having, lacking, replaced
from examples.making.history import START, digest
from examples.making.rows import Json, a_bin, base64
from examples.making.shapes import text

GOOD: Final[Json] = {
    "msg": "write",
    "key": ["shop", "users", digest("users", 1), None],
    "gen": 3,
    "exp": 0,
    "lut": START,
    "bins": [a_bin("name", "str", "Zoë"), a_bin("visits", "int", 12)],
}
"""What each damage is done to."""


def _with_bin(one: Json) -> Alteration:
    """Return what adds a bin."""
    return lambda m: text({**m, "bins": [*m["bins"], one]})


def _one_of_a_batch(m: Json) -> bytes:
    """Alteration the second of three messages of a batch; the others stay good."""
    return text([m, {**m, "bins": [a_bin("flag", "bool", 1)]}, m])


_ZOE: Final = "ë".encode()
_DEEP: Final = b"[" * 30_000 + b"]" * 30_000

DAMAGES: Final[tuple[tuple[str, Alteration], ...]] = (
    ("truncated", cut(40)),
    ("wrong-type", having(gen="3")),
    ("missing-property", lacking("bins")),
    ("invalid-base64", having(key=["shop", "users", "not base64 at all!", None])),
    ("unknown-variant", having(msg="upsert")),
    ("invalid-json", replaced(b":12}", b":NaN}")),
    ("wrong-type", _one_of_a_batch),
    ("invalid-unicode", replaced(_ZOE, b"\xeb")),
    ("out-of-range", having(gen=-1)),
    ("duplicate-column", _with_bin(a_bin("name", "str", "Zoe"))),
    ("wrong-length", having(key=["shop", "users", digest("users", 1)])),
    ("wrong-value", _with_bin(a_bin("prefs", "map", {}, order="descending"))),
    ("too-deep", replaced(b'"type":"int","value":12', b'"type":"list","value":' + _DEEP)),
    ("truncated", lambda m: text(m)[:3]),
    ("wrong-type", having(bins={"name": "Zoë"})),
    ("missing-property", _with_bin({"name": "email", "type": "str"})),
    ("invalid-base64", _with_bin(a_bin("photo", "blob", "===="))),
    ("missing-property", lacking("key")),
    ("invalid-json", lambda m: str(m).encode()),
    ("trailing-data", lambda m: text(m) + b" xyz"),
    ("invalid-unicode", replaced(_ZOE, b"\\ud800")),
    ("out-of-range", _with_bin(a_bin("big", "int", 2**63))),
    ("wrong-length", having(key=["shop", "users", base64(b"short"), None])),
    ("trailing-data", lambda m: text(m) * 2),
    ("empty", lambda _: b""),
)
"""The code by which each damaged message is rejected, and how it is made of a good one."""
