"""Lindorm messages that tests make."""

from typing import Any

import msgspec

import changewire as cw

TS_MS = 1465491411807
ABSENT: Any = object()


def message(op: str, schema: Any = ABSENT, **payload: Any) -> Any:
    """Return the model of a message.

    Args:
        op: The operation.
        schema: Value of ``schema``; bytes are its very text, `ABSENT` leaves it out.
        payload: Other members of the payload, mostly rows.
    """
    source = {"namespace": "shop", "table": "users", "ts_ms": TS_MS}
    wire: Any = {"payload": {"op": op, "ts_ms": TS_MS + 4, "source": source, **payload}}
    if schema is not ABSENT:
        wire["schema"] = msgspec.Raw(schema) if isinstance(schema, bytes) else schema
    return cw.decode(msgspec.json.encode(wire), format="lindorm-json")


def change(op: str, schema: Any = ABSENT, **given: Any) -> cw.Change:
    """Return the only change of a message of `message`; options are those of `cw.changes`."""
    options = {
        name: given.pop(name, None) for name in ("record_key", "key_columns", "column_families")
    }
    (found,) = cw.changes(message(op, schema, **given), **options)
    return found


def declared(**types: Any) -> Any:
    """Return the schema of a payload whose rows have columns of some types."""
    fields = [
        {"field": name, **({"type": kind} if isinstance(kind, str) else kind)}
        for name, kind in types.items()
    ]
    rows = [
        {"field": place, "type": "struct", "optional": True, "fields": fields}
        for place in ("before", "after")
    ]
    return {"type": "struct", "fields": rows}
