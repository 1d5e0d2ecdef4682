"""Schemas of Kafka Connect, as Lindorm puts them beside its payloads."""

from collections.abc import Mapping
from typing import Any, Final

from examples.making.rows import Json

Types = Mapping[str, Json]
"""Type of each column, without its name and whether it is optional."""

STRING: Final[Json] = {"type": "string"}
INT64: Final[Json] = {"type": "int64"}
BYTES: Final[Json] = {"type": "bytes"}
MONEY: Final[Json] = {
    "type": "bytes",
    "name": "org.apache.kafka.connect.data.Decimal",
    "version": 1,
    "parameters": {"scale": "2"},
}
TIMESTAMP: Final[Json] = {
    "type": "int64",
    "name": "org.apache.kafka.connect.data.Timestamp",
    "version": 1,
}

_SOURCE: Final[Types] = {
    "version": STRING,
    "db": STRING,
    "namespace": STRING,
    "table": STRING,
    "ts_ms": INT64,
}


def envelope(row: Types) -> Json:
    """Return the schema of a payload whose rows have these columns, the first being the key."""
    image = _fields(row, optional=True, required=(next(iter(row)),))
    fields: dict[str, Any] = {
        "op": STRING,
        "ts_ms": INT64,
        "before": {**image, "optional": True},
        "after": {**image, "optional": True},
        "source": _fields(_SOURCE, optional=False),
    }
    return _fields(fields, optional=False)


def _fields(types: Types, *, optional: bool, required: tuple[str, ...] = ()) -> Json:
    """Return a struct."""
    fields = [
        {"optional": optional and name not in required, **kind, "field": name}
        for name, kind in types.items()
    ]
    return {"type": "struct", "fields": fields, "optional": False}
