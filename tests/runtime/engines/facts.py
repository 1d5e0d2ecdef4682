"""What a message says of its change, taken from the model by hand: no adapter has a part in it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET
from tests.variants import variant_of

Facts = dict[str, Any]
"""Source (database, schema, table), rows before and after, time in milliseconds since the Unix
epoch, sequence (major, minor), and attributes; values as they stand in the message."""


def facts(format: str, model: Any) -> Facts:
    """Return what a message says."""
    return _FACTS[format.partition("-")[0]](model)


def record_of(model: Any) -> Any:
    """Return the part of an Aerospike message that says what happened to a record."""
    return getattr(model, "payload", getattr(model, "metadata", model))


def record_key(record: Any) -> Any:
    """Return what has namespace, set, digest and user key of a record."""
    return getattr(record, "key", record)


def _aerospike(model: Any) -> Facts:
    record = record_of(model)
    key, lut = record_key(record), _known(record, "lut") or None
    named = {name: getattr(record, name, UNSET) for name in ("gen", "exp", "lut")}
    names = {name: _known(key, name) for name in ("set", "user_key")}
    return {
        "source": (key.namespace, None, names["set"]),
        "before": None,
        "after": _bins(model, record),
        "time": lut,
        "sequence": lut and (lut, _known(record, "gen") or 0),
        "attributes": {n: value for n, value in named.items() if value is not UNSET} | names,
    }


def _bins(model: Any, record: Any) -> dict[str, Any] | None:
    """Return the bins of a write; in flat JSON they are properties of the message."""
    if hasattr(record, "bins"):
        return {one.name: one.value for one in record.bins}
    return model.bins if getattr(record, "msg", None) == "write" else None


def _dataworks(model: Any) -> Facts:
    payload, kind = model.payload, variant_of(model)
    source = json.loads(bytes(model.schema_text)).get("source") or {}
    place = {name: source.get(name) or None for name in ("dbName", "schemaName", "tableName")}
    attributes = {"op": str(payload.op), "version": model.version}
    nothing = dict.fromkeys(("before", "after", "time", "sequence"))
    if kind == "Other":
        return {"source": tuple(place.values()), **nothing, "attributes": attributes}
    number, time = _known(payload, "sequence_id"), payload.timestamp.event_time
    is_lone = kind.startswith("UpdateBefor")
    before, after = _known(payload, "before"), _known(payload, "after")
    return {
        "source": tuple(place.values()),
        "before": before and before.data_column,
        "after": None if kind == "Delete" or is_lone else after and after.data_column,
        "time": None if time == -1 else time,
        "sequence": number and (int(number), int(not is_lone)),
        "attributes": attributes,
    }


YEAR_10000 = 253_402_300_800_000
"""In milliseconds since the Unix epoch."""


def _lindorm(model: Any) -> Facts:
    payload, source = model.payload, model.payload.source
    after = None if variant_of(model) == "Delete" else _known(payload, "after")
    return {
        "source": (source.namespace, None, source.table),
        "before": _known(payload, "before"),
        "after": after,
        "time": source.ts_ms if source.ts_ms < YEAR_10000 else None,
        "sequence": (source.ts_ms, 0),
        "attributes": {"op": payload.op, "ts_ms": payload.ts_ms},
    }


def _known(model: Any, name: str) -> Any:
    """Return an attribute; None where it is absent."""
    value = getattr(model, name, None)
    return None if value is UNSET else value


_FACTS: Mapping[str, Callable[[Any], Facts]] = {
    "aerospike": _aerospike,
    "dataworks": _dataworks,
    "lindorm": _lindorm,
}
