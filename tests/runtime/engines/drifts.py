"""Messages of sources whose columns come, go and change their types."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import msgpack
import msgspec
from tests.runtime.engines.auto_cases import flat, write
from tests.runtime.engines.merge.messages import message as dataworks

EVENTS = 30

_INTEGERS = (0, -1, 7, 2**53 + 1, 2**63 - 1, -(2**63))
_FRACTIONS = (0.5, -1.25, 0.1, 1e300, 2.0)
_TEXTS = ("", "a", "é\n", "5", "1.5", "true", "QUI=", "2024-01-02T03:04:05Z", "NaN", '{"a":1}')
_BYTES = ("", "QUI=", "/w==")
_LISTS: Sequence[Any] = ([], [1, "a", None, [0.5]])
_MAPS: Sequence[Any] = ({}, {"k": {"": 1.5}}, {"a": None, "A": "\0"})
_TIMES = (0, 1700000000123, -62135596800000)

Kinds = Mapping[str, Sequence[Any]]
"""Values of each type of a source."""

Row = Mapping[str, tuple[str, Any]]
"""Type and value of each column."""

_SHOWN: Kinds = {
    "integer": (*_INTEGERS, 2**70),
    "fraction": _FRACTIONS,
    "text": _TEXTS,
    "boolean": (True, False),
    "list": _LISTS,
    "map": _MAPS,
}
_BINS: Kinds = {
    "int": _INTEGERS,
    "float": (*_FRACTIONS, "NaN"),
    "str": _TEXTS,
    "bool": (True, False),
    "blob": _BYTES,
    "list": _LISTS,
    "map": _MAPS,
    "geojson": ({"type": "Point", "coordinates": [0.5, 1]},),
}
_DATAWORKS: Kinds = {
    "LONG": _INTEGERS,
    "DOUBLE": (0.5, 7, 1.25, "1.10", "12345678901234567890.5", "NaN"),
    "STRING": _TEXTS,
    "BOOLEAN": (True, False),
    "BYTES": _BYTES,
    "DATE": _TIMES,
    "GEOMETRY": (*_MAPS, 5, "5"),
}
_CONNECT: Kinds = {
    "int64": _INTEGERS,
    "int8": (0, -128, 127),
    "double": _FRACTIONS,
    "string": _TEXTS,
    "boolean": (True, False),
    "bytes": _BYTES,
    "org.apache.kafka.connect.data.Decimal": ("AQ==", "/w==", "AN4K"),
    "org.apache.kafka.connect.data.Timestamp": _TIMES,
}
_PARTICLES = {
    "int": 1,
    "float": 2,
    "str": 3,
    "blob": 4,
    "bool": 17,
    "map": 19,
    "list": 20,
    "geojson": 23,
}


class Event(NamedTuple):
    """What happens to a row.

    Attributes:
        number: Its place among all events.
        op: write, delete or move.
        key: The row.
        old: The row that it was, if it moves.
        row: Type and value of each column.
        declared: Types of columns, but for one now and then that a schema forgot.
    """

    number: int
    op: str
    key: int
    old: int
    row: Row
    declared: Mapping[str, str]


class Source(NamedTuple):
    """A way in which messages say what happens.

    Attributes:
        format: Their format.
        kinds: Values of each type.
        messages: Returns the messages of an event.
        options: How they are read.
    """

    format: str
    kinds: Kinds
    messages: Callable[[Event], Sequence[Any]]
    options: Mapping[str, Any] = {}


def _flat(event: Event) -> list[Any]:
    message = flat(event.key, event.number, **{n: value for n, (_, value) in event.row.items()})
    return [{"metadata": _deleted(message["metadata"])} if event.op == "delete" else message]


def _deleted(message: Mapping[str, Any]) -> dict[str, Any]:
    return {**message, "msg": "delete", "durable": True}


def _bins(event: Event) -> list[Any]:
    bins = [(name, kind, value) for name, (kind, value) in event.row.items() if value is not None]
    message = write(event.key, event.number, *bins)
    if event.op != "delete":
        return [message]
    del message["bins"]
    return [_deleted(message)]


def _packed(event: Event) -> list[bytes]:
    key = ["test", "users", bytes([event.key] * 20), event.key]
    if event.op == "delete":
        return [_pack([1, 2, [key, 0, 1, 0, event.number]])]
    bins = [
        [name, _PARTICLES[kind], 0, _unpacked(kind, value)]
        for name, (kind, value) in event.row.items()
        if value is not None
    ]
    return [_pack([1, 1, [key, 1, 0, event.number, bins]])]


def _pack(message: Any) -> bytes:
    data: bytes = msgpack.packb(message)
    return data


def _unpacked(kind: str, value: Any) -> Any:
    if kind == "float":
        return float(value)
    if kind == "blob":
        return msgspec.convert(value, bytes)
    return json.dumps(value) if kind == "geojson" else value


def _lindorm(event: Event, **message: Any) -> list[Any]:
    row = {"id": event.key, **{name: value for name, (_, value) in event.row.items()}}
    is_delete = event.op == "delete"
    source = {"namespace": "n", "table": "users", "ts_ms": event.number}
    payload = {
        "op": "d" if is_delete else "u",
        "ts_ms": event.number,
        "before": {"id": event.key} if is_delete else None,
        "after": None if is_delete else row,
        "source": source,
    }
    return [{**message, "payload": payload}]


def _lindorm_with_schema(event: Event) -> list[Any]:
    fields = [{"type": "int64", "optional": False, "field": "id"}]
    fields += [_connect(name, kind) for name, kind in event.declared.items()]
    images = [
        {"type": "struct", "optional": True, "fields": fields, "field": name}
        for name in ("before", "after")
    ]
    return _lindorm(event, schema={"type": "struct", "fields": images, "optional": False})


def _connect(name: str, kind: str) -> dict[str, Any]:
    field: dict[str, Any] = {"type": kind, "optional": True, "field": name}
    if kind.endswith("Decimal"):
        return {**field, "type": "bytes", "name": kind, "parameters": {"scale": "2"}}
    return {**field, "type": "int64", "name": kind} if kind.endswith("Timestamp") else field


def _dataworks(event: Event) -> list[bytes]:
    row = {name: value for name, (_, value) in event.row.items()}
    given: Mapping[str, Any] = {"table": "users", "types": {"id": "LONG", **event.declared}}
    now, old = {"id": event.key, **row}, {"id": event.old}
    if event.op == "delete":
        return [dataworks("DELETE", event.number, {"id": event.key}, **given)]
    if event.op != "move":
        return [dataworks("UPDATE_AFTER", event.number, now, **given)]
    if event.number % 2:
        return [dataworks("UPDATE_AFTER", event.number, now, before=old, **given)]
    return [
        dataworks("UPDATE_BEFOR", event.number, None, before=old, **given),
        dataworks("UPDATE_AFTER", event.number, now, **given),
    ]


_PATCH = {"row_image": "patch"}
_ID = {"key_columns": ["id"]}
SOURCES = {
    "flat": Source("aerospike-flat-json", _SHOWN, _flat),
    "flat patches": Source("aerospike-flat-json", _SHOWN, _flat, _PATCH),
    "bins": Source("aerospike-json", _BINS, _bins),
    "patches": Source("aerospike-json", _BINS, _bins, _PATCH),
    "packed": Source("aerospike-msgpack", _BINS, _packed, _PATCH),
    "lindorm": Source("lindorm-json", _SHOWN, _lindorm, _ID),
    "lindorm with schemas": Source("lindorm-json", _CONNECT, _lindorm_with_schema, _ID),
    "dataworks": Source("dataworks-json", _DATAWORKS, _dataworks),
}

NAMES = ("a", "b", "c", "d", "e", "key", "row", "_x", "größe", "x-y", "deleted")
ODD = (
    *("", " ", "a b", "a.b", "a`b", 'a"b', "\0", "a\nb", "{}", "x=1,y;(z)", "%20", "/"),
    *("_changewire", "_CHANGEWIRE", "element", "x" * 256, "é" * 200),
)
CASES = ("A", "B", "GRÖSSE", "ID", "KEY")
"""Names of columns; those of other columns in another case."""


def events(draw: Random, kinds: Kinds, names: Sequence[str]) -> Iterator[Event]:
    """Yield events of rows whose columns are added, left out, and get other types."""
    declared = {one: draw.choice([*kinds]) for one in draw.sample(names, draw.randint(1, 5))}
    for number in range(1, EVENTS + 1):
        if draw.random() < 0.3:
            declared[draw.choice(names)] = draw.choice([*kinds])
        if draw.random() < 0.1 and declared:
            del declared[draw.choice([*declared])]
        there = [*declared] if draw.random() < 0.5 else draw.sample([*declared], len(declared) // 2)
        draw.shuffle(there)
        row = {one: (kind := declared[one], draw.choice((*kinds[kind], None))) for one in there}
        op = draw.choice(("write",) * 8 + ("move", "delete"))
        known = [one for one in declared if one not in there[:1] or draw.random() < 0.9]
        key, old = draw.sample(range(4), 2)
        yield Event(number, op, key, old, row, {one: declared[one] for one in known})


def messages(draw: Random, source: Source, names: Sequence[str] = NAMES) -> list[bytes]:
    """Return messages: some are late, and some come twice."""
    sent = [one for event in events(draw, source.kinds, names) for one in source.messages(event)]
    sent += draw.sample(sent, len(sent) // 8)
    places = sorted((number + draw.randint(0, 6), number) for number in range(len(sent)))
    late = [sent[number] for _, number in places]
    return [one if isinstance(one, bytes) else json.dumps(one).encode() for one in late]


def cut(draw: Random, sent: Sequence[bytes]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield batches of records: value, topic, partition and offset."""
    edges = sorted({0, len(sent), *draw.sample(range(len(sent)), draw.randint(0, 3))})
    for start, stop in pairwise(edges):
        yield [(sent[at], "topic", 0, at) for at in range(start, stop)]
