"""Messages in flat JSON that the kernel could mistake: it makes what Python makes, or declines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.native.differential import batch_of, compare, needs_kernel

from changewire.changes.decode_options import DecodeOptions

pytestmark = needs_kernel

DIGEST = "YWJjZGVmZ2hpamtsbW5vcHFyc3Q="
WRITE = {"msg": "write", "namespace": "ns", "digest": DIGEST, "lut": 5}
DELETE = {**WRITE, "msg": "delete"}
JSON = {"msg": "write", "key": ["ns", None, DIGEST, None], "gen": 1, "exp": 0, "lut": 5, "bins": []}
READ: list[Any] = [
    {"metadata": WRITE, "a": 1, "b": {"msg": "write"}, "c": {"d": {"namespace": 1}}, "e": None},
    {"a": [WRITE], "metadata": {**WRITE, "set": None, "userKey": 2.5, "gen": None, "exp": -1}},
    {"metadata": 1, "bins": {}, "named": "x", "m": WRITE},
    {"": WRITE, "metadata": {"msg": 1, "namespace": 2}},
    {"metadata": DELETE},
    {"m": {**DELETE, "durable": True, "userKey": 7}},
    [{"metadata": WRITE, "a": 1}, {"m": DELETE}],
]
"""Messages that it reads."""

LEFT: list[Any] = [
    {"metadata": WRITE, "old": WRITE},
    {"metadata": WRITE, "old": {"msg": 1, "namespace": 2, "digest": 3}},
    {"metadata": {**WRITE, "new": 1}},
    {"metadata": DELETE, "a": 1},
    {"metadata": {**WRITE, "msg": "other"}},
    {"metadata": [WRITE]},
    {"a": 1},
    {},
]
"""Messages that it leaves to Python."""

TEXTS = [
    b'{"metadata":%b,"a":1,"a":2}',
    b'{"metadata":%b,"\\u0061":2}',
    b'{"metadata":%b,"a":{"m\\u0073g":1,"namespace":1,"digest":1}}',
    b'{"metadata":5,"metadata":%b}',
    b'{"metadata":%b,"a":{"msg":1,"msg":2}}',
    b'{"metadata":%b,"a":1e3,"b":-0.0,"c":123456789012345678901234567890}',
    b'{"metadata":%b,"a":' + b"[" * 100 + b"]" * 100 + b"}",
    b'{"metadata":%b} {}',
    b'{"metadata":%b,}',
]
"""The same as text, for what JSON of Python cannot say."""

OTHERS: list[Any] = [
    {**JSON, "metadata": WRITE},
    {**JSON, "region": {"a": 1}},
    {**JSON, "region": "eu"},
    {"op": "c", "ts_ms": 6, "after": WRITE, "source": {"namespace": "n", "table": "t", "ts_ms": 5}},
    {"payload": {"op": "c", "ts_ms": 6, "after": WRITE}, "metadata": WRITE},
]
"""Messages that are, or may be, of other formats."""


@pytest.mark.parametrize("format", ["aerospike-flat-json", "auto"])
def test_the_kernel_reads_what_python_reads(format: str) -> None:
    """Rows are the same, and only messages that may mean something else are left to Python."""
    values = [json.dumps(one).encode() for one in READ]
    assert compare(batch_of(values), DecodeOptions(format)).declined == 0
    values = [json.dumps(one).encode() for one in LEFT]
    assert compare(batch_of(values), DecodeOptions(format)).declined == len(LEFT)


@pytest.mark.parametrize("format", ["aerospike-flat-json", "auto"])
def test_texts_that_could_be_mistaken(format: str) -> None:
    """Names that occur twice or have escapes, depth, numbers and commas: rows are the same."""
    metadata = json.dumps(WRITE).encode()
    compare(batch_of([text % metadata for text in TEXTS]), DecodeOptions(format))


def test_messages_of_a_topic_that_carries_every_format() -> None:
    """Each message is read by the format that Python takes, in any order."""
    values = [json.dumps(one).encode() for one in (*OTHERS, *READ, *LEFT)]
    compare(batch_of([*values, *values[::-1]]), DecodeOptions("auto"))
