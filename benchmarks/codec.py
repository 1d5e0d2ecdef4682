"""Decode, encode and refusal beside parsers, validators and model libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import changewire as cw
from benchmarks import messages, peers
from benchmarks.tables import Result, timed, verdict
from benchmarks.timing import Action, compare
from changewire.codec.family import GeneratedFamily
from changewire_messages import aerospike_json

OURS = "changewire"
_MOST = {"0.35 KB": 1.5, "2 KB": 1.1}
_MOST_UNKNOWN = 2.5


def run(*, rounds: int, seconds: float) -> Iterator[Result]:
    """Yield a table for each size and task."""
    for size, message in (("0.35 KB", messages.small()), ("2 KB", messages.large())):
        data = messages.wire(message)
        yield _decode(size, data, rounds, seconds)
        yield _encode(size, message, data, rounds, seconds)
        yield _refuse(size, data, rounds, seconds)
        yield _unknown(size, message, rounds, seconds)


def _decode(size: str, data: bytes, rounds: int, seconds: float) -> Result:
    codec = cw.codec(messages.FORMAT)
    actions: dict[str, Action] = {OURS: lambda: codec.decode(data)}
    actions |= {name: _bound(read, data) for name, read in peers.readers().items()}
    found = compare(actions, rounds=rounds, seconds=seconds)
    base = "orjson (parse only)"
    ratio = found[OURS].ratio(found[base])[0]
    target = verdict(f"decode at {size} to a bare orjson.loads", ratio, _MOST[size])
    return timed(f"Decode and validate, {size} ({len(data)} bytes)", found, base, target)


def _encode(size: str, message: dict[str, Any], data: bytes, rounds: int, seconds: float) -> Result:
    codec = cw.codec(messages.FORMAT)
    model = codec.decode(data)
    actions: dict[str, Action] = {OURS: lambda: codec.encode(model), **peers.writers(message)}
    found = compare(actions, rounds=rounds, seconds=seconds)
    return timed(f"Validate and encode, {size}", found, "jsonschema-rs + orjson")


def _refuse(size: str, data: bytes, rounds: int, seconds: float) -> Result:
    broken = data.replace(b'"gen":4', b'"gen":"4"').replace(b'"value":42', b'"value":"x"')
    codec = cw.codec(messages.FORMAT)

    def refuse() -> object:
        try:
            return codec.decode(broken)
        except cw.DecodeError as error:
            return error.issues

    found = compare({OURS: refuse, **peers.refusals(broken)}, rounds=rounds, seconds=seconds)
    return timed(f"Refuse, with every error and its place, {size}", found, "orjson + jsonschema-rs")


def _unknown(size: str, message: dict[str, Any], rounds: int, seconds: float) -> Result:
    """Each has a codec of its own, as a topic would: what was unknown once is expected."""
    nested = {**message, "bins": [{**message["bins"][0], "note": 1}, *message["bins"][1:]]}
    known = "known properties"
    variants = {
        known: message,
        "one unknown at the root": {**message, "srcId": "dc-1"},
        "three unknown at the root": {**message, "srcId": "dc-1", "shard": 7, "trace": [1, 2]},
        "one unknown in a bin": nested,
    }
    actions = {name: _reader(messages.wire(each)) for name, each in variants.items()}
    found = compare(actions, rounds=rounds, seconds=seconds)
    ratios = {name: found[name].ratio(found[known])[0] for name in variants}
    worst = max(ratios["one unknown at the root"], ratios["three unknown at the root"])
    target = verdict("unknown properties to the fast path", worst, _MOST_UNKNOWN)
    target += f" In a bin: {ratios['one unknown in a bin']:.2f}."
    return timed(f"Unknown properties, {size}", found, known, target)


def _reader(data: bytes) -> Callable[[], object]:
    codec = cw.Codec(GeneratedFamily(aerospike_json))
    return lambda: codec.decode(data)


def _bound(read: peers.Read, data: bytes) -> Action:
    return lambda: read(data)
