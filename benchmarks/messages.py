"""The messages that are measured: the example of the format document, cut and multiplied."""

from __future__ import annotations

import json
from typing import Any

from changewire_messages.bundles import schema_of

FORMAT = "aerospike-json"


def schema(variant: str) -> dict[str, Any]:
    """Return the canonical schema of a variant."""
    return schema_of("changewire_messages.aerospike_json", variant)


def small() -> dict[str, Any]:
    """Return a write of about 0.35 KB: four bins."""
    write = dict(schema("Write")["examples"][0])
    write["bins"] = [*write["bins"][:3], {"name": "visits", "type": "int", "value": 42}]
    return write


def large() -> dict[str, Any]:
    """Return a write of about 2 KB: thirty bins."""
    write = dict(schema("Write")["examples"][0])
    bins = [{**b, "name": f"{b['name']}{i}"} for i in range(4) for b in write["bins"]]
    bins += [{"name": f"count{i}", "type": "int", "value": i * 1000} for i in range(10)]
    return {**write, "bins": bins}


def wire(message: object) -> bytes:
    """Return a message as a Java connector writes it: without spaces."""
    return json.dumps(message, separators=(",", ":")).encode()
