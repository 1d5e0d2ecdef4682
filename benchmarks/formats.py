"""Every format beside the bare parser of its encoding: decode, encode, detect, changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import jsonschema_rs
import msgpack
import orjson

import changewire as cw
from benchmarks.tables import Result, timed, verdict
from benchmarks.timing import Action, compare
from changewire_messages import FORMATS
from changewire_messages.bundles import schema_of

ORJSON, MSGPACK = "orjson (parse only)", "msgpack (parse only)"
DECODE, ENCODE, PROOF = "decode", "encode, with proof", "jsonschema-rs + orjson"
_COLUMNS: dict[str, Any] = {
    "customer_id": 48213,
    "first_name": "Anne",
    "last_name": "Kretchmar",
    "email": "annek@noanswer.org",
    "street": "1234 Long Winding Road",
    "city": "Copenhagen",
    "balance": 1032.55,
    "visits": 17,
    "is_active": True,
    "note": None,
    "created_at": 1465491411815,
}
_TYPES: dict[type, str] = {bool: "BOOLEAN", int: "LONG", float: "DOUBLE"}
"""Column types of DataWorks; other values are text."""
_CONNECT: dict[type, str] = {bool: "boolean", int: "int64", float: "double", str: "string"}
"""The same of Kafka Connect."""

_MOST: dict[tuple[str, str], float] = {
    ("aerospike-json", "small"): 1.5,
    ("aerospike-json", "large"): 1.1,
    ("aerospike-msgpack", "small"): 2.0,
    ("aerospike-msgpack", "large"): 2.0,
    ("dataworks-json", "small"): 1.6,
    ("dataworks-json", "large"): 1.1,
    ("lindorm-json", "small"): 1.6,
    ("lindorm-json", "large"): 1.1,
    ("lindorm-json", "large, without its schema"): 1.1,
}
"""At most so many times the bare parser."""


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield a table for each format and size."""
    for name in cw.formats():
        for size, data in messages(name).items():
            yield _one(name, size, data, rounds, seconds)


def messages(format: str) -> dict[str, bytes]:
    """Return the first example of a format, and ones with many columns."""
    first = _examples(format)[0]
    if isinstance(first, str):
        parsed = msgpack.unpackb(bytes.fromhex(first))
        bins = [[f"{b[0]}{i}", *b[1:]] for i in range(6) for b in parsed[2][4]]
        wide = [*parsed[:2], [*parsed[2][:4], bins]]
        return {"small": msgpack.packb(parsed), "large": msgpack.packb(wide)}
    found = {"small": first}
    for size, widen in _ROWS[format].items():
        found[size] = json.loads(json.dumps(first))
        widen(found[size])
    return {size: orjson.dumps(message) for size, message in found.items()}


def _wide_aerospike(message: Any) -> None:
    bins = message["bins"]
    message["bins"] = [{**b, "name": f"{b['name']}{i}"} for i in range(6) for b in bins]


def _wide_dataworks(message: Any) -> None:
    row = _row()
    columns = [{"name": n, "type": _TYPES.get(type(v), "STRING")} for n, v in row.items()]
    message["schema"]["dataColumn"] = columns
    message["payload"]["after"]["dataColumn"] = row


def _wide_lindorm(message: Any) -> None:
    row = {name: value for name, value in _COLUMNS.items() if value is not None}
    columns = [{"field": n, "type": _CONNECT[type(v)], "optional": True} for n, v in row.items()]
    images = [
        {"field": name, "type": "struct", "optional": True, "fields": columns}
        for name in ("before", "after")
    ]
    message["schema"] = {"type": "struct", "optional": False, "fields": images}
    message["payload"] |= {"op": "u", "before": row, "after": {**row, "visits": 18}}


def _bare_lindorm(message: Any) -> None:
    row = _row()
    message["payload"] |= {"op": "u", "before": row, "after": {**row, "visits_0": 18}}


def _row() -> dict[str, Any]:
    """Return a row of some 0.8 KB, as an application may have one."""
    return {f"{name}_{i}": value for i in range(3) for name, value in _COLUMNS.items()}


_ROWS: dict[str, dict[str, Callable[[Any], None]]] = {
    "aerospike-json": {"large": _wide_aerospike},
    "dataworks-json": {"large": _wide_dataworks},
    "lindorm-json": {"large": _wide_lindorm, "large, without its schema": _bare_lindorm},
}
"""What makes an example a large message, by size."""


def _examples(format: str) -> list[Any]:
    package = FORMATS[format]
    variant = "Write" if format.startswith("aerospike") else "Message"
    return list(schema_of(package, variant)["examples"])


def _one(name: str, size: str, data: bytes, rounds: int, seconds: float) -> Result:
    codec = cw.codec(name)
    model = codec.decode(data)
    is_json = import_module(FORMATS[name]).ENCODING == "json"
    base = ORJSON if is_json else MSGPACK
    actions: dict[str, Action] = {
        base: (lambda: orjson.loads(data)) if is_json else (lambda: msgpack.unpackb(data)),
        DECODE: lambda: codec.decode(data),
        "decode, format detected": lambda: cw.decode(data),
        "changes": lambda: cw.changes(model),
        ENCODE: lambda: codec.encode(model),
    }
    if is_json:
        actions[PROOF] = _proof(name, orjson.loads(data))
    found = compare(actions, rounds=rounds, seconds=seconds)
    ratio = found[DECODE].ratio(found[base])[0]
    text = verdict(f"decode to {base}", ratio, _MOST[name, size])
    if is_json:
        text += f" Encode to {PROOF}: {found[ENCODE].ratio(found[PROOF])[0]:.2f}."
    return timed(f"{name}, {size} ({len(data)} bytes)", found, base, text)


def _proof(name: str, message: Any) -> Action:
    """Return what a careful producer does without us: validate, then write."""
    validator = jsonschema_rs.validator_for(schema_of(FORMATS[name], "Message"))
    return lambda: validator.is_valid(message) and orjson.dumps(message)
