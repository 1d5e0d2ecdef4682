"""Writes of Aerospike in both encodings, good ones and bad ones of ten kinds."""

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import msgpack

import changewire as cw

Parsed = Any
DIGEST = b"abcdefghijklmnopqrst"


@dataclass(frozen=True)
class Writes:
    """The writes of one format.

    Attributes:
        format: public name of the format.
        parsed: returns the write of a number.
        key: returns the record key of a write.
        loads: what any reader of the encoding has.
        dumps: the same in the other direction.
        bad: what makes a bad message of a good one, by the code of its first issue.
    """

    format: str
    parsed: Callable[[int], Parsed]
    key: Callable[[Parsed], Parsed]
    loads: Callable[[bytes], Parsed]
    dumps: Callable[[Parsed], bytes]
    bad: Mapping[str, Callable[[Parsed], Any]]

    def good(self, count: int) -> Iterator[Any]:
        """Yield good messages: as dictionaries and lists, as bytes, as models."""
        decode = cw.codec(self.format).decode
        forms: list[Callable[[Parsed], Any]] = [
            lambda parsed: parsed,
            self.dumps,
            lambda parsed: decode(self.dumps(parsed)),
        ]
        for i in range(count):
            yield forms[i % len(forms)](self.parsed(i))


def _json_write(i: int) -> Parsed:
    return {
        "msg": "write",
        "key": ["shop", "users", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", f"u-{i}"],
        "gen": i % 65536,
        "exp": 0,
        "lut": 1_700_000_000_000 + i,
        "bins": [
            {"type": "int", "name": "visits", "value": i * i},
            {"type": "float", "name": "score", "value": i / 7},
            {"type": "str", "name": "name", "value": f"Zoë {i}"},
            {"type": "map", "name": "tags", "value": {"a": [i, None, True]}, "order": "key"},
        ],
    }


def _msgpack_write(i: int) -> Parsed:
    bins = [
        ["visits", 1, 0, i * i],
        ["score", 2, 0, i / 7],
        ["name", 3, 0, f"Zoë {i}"],
        ["tags", 19, 1, {"a": [i, None, True], i: b"\x00"}],
    ]
    lut = 1_700_000_000_000 + i
    return [1, 1, [["shop", "users", DIGEST, f"u-{i}"], i % 65536, 0, lut, bins]]


def _with(place: str, value: Any) -> Callable[[Parsed], Parsed]:
    """Return what puts a value at a place, names and numbers with slashes between them."""
    *steps, last = [int(step) if step.isdigit() else step for step in place.split("/")]

    def put(message: Parsed) -> Parsed:
        changed = inner = deepcopy(message)
        for step in steps:
            inner = inner[step]
        inner[last] = value
        return changed

    return put


def _without(message: Parsed) -> Parsed:
    return {name: value for name, value in message.items() if name != "key"}


def _packed(message: Parsed) -> bytes:
    return bytes(msgpack.packb(message))


def _twice_a_key(message: Parsed) -> bytes:
    """Return a message with a map whose two keys are the same."""
    name, number = message[2][4][3][3]
    return _packed(message).replace(msgpack.packb(name), msgpack.packb(number), 1)


JSON = Writes(
    "aerospike-json",
    _json_write,
    lambda message: message["key"],
    json.loads,
    lambda message: json.dumps(message).encode(),
    {
        "wrong-type": _with("gen", "4"),
        "out-of-range": _with("bins/0/value", 2**63),
        "missing-property": _without,
        "unknown-variant": _with("msg", "upsert"),
        "wrong-length": _with("key/2", "YWJj"),
        "invalid-base64": _with("bins/2", {"type": "blob", "name": "b", "value": "%"}),
        "duplicate-column": _with("bins/1/name", "visits"),
        "not-encodable": _with("bins/3/value", {"a": (1, 2)}),
        "truncated": lambda message: json.dumps(message)[:-1],
        "trailing-data": lambda message: json.dumps(message).encode() * 2,
    },
)
MSGPACK = Writes(
    "aerospike-msgpack",
    _msgpack_write,
    lambda message: message[2][0],
    lambda data: msgpack.unpackb(data, strict_map_key=False),
    _packed,
    {
        "wrong-type": _with("2/1", "4"),
        "out-of-range": _with("2/1", -1),
        "unknown-variant": _with("1", 9),
        "wrong-length": _with("2/0/2", b"short"),
        "duplicate-column": _with("2/4/1/0", "visits"),
        "not-encodable": _with("2/4/3/3", {"a": (1, 2)}),
        "duplicate-key": _twice_a_key,
        "truncated": lambda message: _packed(message)[:-1],
        "trailing-data": lambda message: _packed(message) * 2,
        "invalid-msgpack": lambda message: _packed(message).replace(b"\xa6visits", b"\xc1visits"),
    },
)
