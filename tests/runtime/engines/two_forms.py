"""One table whose messages come in two forms: as from a connector with a format per namespace."""

import json
from base64 import b64encode
from typing import Any, Final

ROWS: Final = {1: {"n": 3, "name": "c"}, 2: {"n": 20}, 4: {"n": 4}}
"""The bins of each record that is left, by the number of its digest."""

DIGESTS: Final = {number: b64encode(bytes([number] * 20)).decode() for number in range(1, 5)}


def flat(number: int, gen: int, bins: dict[str, Any] | None, name: str = "metadata") -> bytes:
    """Return a message in flat JSON: a write of bins, or a delete."""
    kind = "delete" if bins is None else "write"
    where = {"namespace": "shop", "set": "users", "digest": DIGESTS[number]}
    return json.dumps(
        {name: {"msg": kind, **where, "gen": gen, "lut": gen}, **(bins or {})}
    ).encode()


def plain(number: int, gen: int, bins: dict[str, Any] | None) -> bytes:
    """Return the same message in the JSON format."""
    found = [
        {"name": name, "type": "int" if isinstance(value, int) else "str", "value": value}
        for name, value in (bins or {}).items()
    ]
    key = ["shop", "users", DIGESTS[number], None]
    message = {"msg": "delete" if bins is None else "write", "key": key, "gen": gen, "lut": gen}
    return json.dumps(message if bins is None else {**message, "exp": 0, "bins": found}).encode()


BATCHES: Final = (
    [
        flat(1, 1, {"n": 1}),
        plain(2, 1, {"n": 2}),
        flat(3, 1, {"n": 3}),
        b"[%b,%b]" % (flat(4, 3, {"n": 4}), flat(4, 1, {"n": 0})),
    ],
    [
        plain(1, 3, {"n": 3, "name": "c"}),
        flat(1, 2, {"n": 2, "gone": True}, name="meta"),
        flat(2, 5, {"n": 20}),
        plain(2, 4, None),
        flat(3, 6, None),
        plain(3, 5, {"n": 30}),
        flat(4, 9, {"n": 9}).replace(b'"n": 9', b'"n": 8, "n": 9'),
    ],
)
"""Messages of two batches, each of both forms, some late; the last one is rejected."""
