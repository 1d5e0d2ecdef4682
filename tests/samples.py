"""Messages that several tests use."""

from __future__ import annotations

import json
from typing import Any

from changewire_messages.bundles import schema_of

FORMAT = "aerospike-json"


def examples(variant: str) -> list[Any]:
    """Return the examples of a schema, parsed."""
    return list(schema_of("changewire_messages.aerospike_json", variant.capitalize())["examples"])


def mixed_messages() -> list[bytes | None]:
    """Return good messages, a batch with a bad element, an empty one, damage, and no value."""
    write, delete = examples("write"), examples("delete")
    good = [json.dumps(message).encode() for message in (*write, *delete)]
    batch = json.dumps([write[0], {"msg": "write"}, delete[0]]).encode()
    same_names = {**write[1], "bins": [write[1]["bins"][0]] * 2}
    damaged = [b"{", b'{"msg": "\xff"}', json.dumps(same_names).encode()]
    return [*good, batch, b"[]", None, *damaged]


MIXED_COUNTS = {"messages": 13, "elements": 15, "changes": 9, "controls": 2, "dead_letters": 4}
"""What becomes of `mixed_messages`."""
