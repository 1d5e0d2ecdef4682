"""Values that MessagePack has and JSON lacks: which the kernel reads, with the same rows."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import msgpack
import pytest
from tests.native.differential import batch_of, compare, needs_kernel

from changewire.changes.decode_options import DecodeOptions

pytestmark = needs_kernel

OPTIONS = DecodeOptions("aerospike-msgpack")
DIGEST = bytes(range(20))
NESTED = {"a": [b"\x00\xff", None, {"b": 1.5}]}


def write(*bins: list[Any], key: Any = None, set: Any = "s") -> bytes:
    """Return a write of bins."""
    return bytes(msgpack.packb([1, 1, [["ns", set, DIGEST, key], 1, 0, 1700000000123, [*bins]]]))


READ = [
    *([1, 0, -(2**63)], [1, 0, 2**63 - 1], [2, 0, -0.0], [2, 0, 12.5016021728515625]),
    *([2, 0, float("nan")], [2, 0, float("-inf")], [3, 0, 'é\n"\\\x00\u2028'], [4, 0, b""]),
    *([23, 0, '{"type": "Point", "coordinates": [1.30, 2]}'], [23, 0, " [] "]),
    *([17, 0, True], [19, 0, {}], [19, 1, NESTED], [19, 3, {1: "a", -2: "b"}]),
    *([19, 1, {b"k": {}, "": 0}], [20, 0, []], [20, 0, [0.5]]),
    [20, 1, [1, "a", None, float("nan"), NESTED, {7: [True]}]],
]
LEFT = [
    *([2, 0, 1], [2, 0, 1e300], [1, 0, 2**64 - 1], [1, 0, True], [3, 0, b"x"], [4, 0, "x"]),
    *([19, 0, []], [20, 0, {}], [23, 0, "no json"], [23, 0, '{"\\u0061":1,"a":2}']),
    *([20, 0, [msgpack.ExtType(23, b"{}")]], [20, 0, [2**64 - 1]], [0, 0, 1]),
    *([19, 0, {1: "a", 1.5: "b"}], [19, 0, {"a": 1, 2: "b"}], [19, 0, {None: 1, 2: 3}]),
    *([7, 0, b"\xac\xed\x00"], [9, 0, b"p"], [18, 0, b"\x00\x01"], [0, 0, None], [1, 4, 1]),
    *([19, 2, {b"k": {}, "": 0}], [20, 5, [0.5]], [99, 0, float("inf")]),
    *([23, 1, " [] "], [16, 0, [0.5]], [99, 1, b"x"], [99, 0, {"a": 1}]),
]


@pytest.mark.parametrize("bin", READ, ids=repr)
def test_what_is_read(bin: list[Any]) -> None:
    """A bin of any type, flags or value that the format has."""
    message = write(["n", *bin])
    found = compare(batch_of([message, b"\x92" + message * 2]), OPTIONS)
    assert found.declined == 0
    compare(batch_of([message]), OPTIONS)


@pytest.mark.parametrize("bin", LEFT, ids=repr)
def test_what_is_left_to_python(bin: list[Any]) -> None:
    """What is not of the format, or is rare."""
    found = compare(batch_of([write(["n", *bin])]), OPTIONS)
    assert found.declined == 1


@pytest.mark.parametrize("key", [None, 1, -5, "k", b"k", 1.5, inf, nan], ids=repr)
@pytest.mark.parametrize("set", ["s", None], ids=repr)
@pytest.mark.parametrize("flags", [0, 1, 6], ids=str)
def test_deletes(key: Any, set: str | None, flags: int) -> None:
    """Deletes of both versions, and a write that has no bin."""
    place = ["ns", set, DIGEST, key]
    payloads = [
        [place, flags],
        [place, flags, None, None, None],
        [place, flags, 7, 9, 1700000000123],
    ]
    messages = [bytes(msgpack.packb([1, 2, payload])) for payload in payloads]
    found = compare(batch_of([*messages, write(key=key, set=set)]), OPTIONS)
    assert found.declined == 0
    compare(batch_of(messages), OPTIONS)


@pytest.mark.parametrize(
    "message",
    [
        *(b"", b"\x90", b"\xc0", b"\x91\x01", b"\x91\x90", b"\xc1", b"\xdd\xff\xff\xff\xff"),
        *(write() + b"\xc0", write()[:-1], b"\x91" * 5000, b"\x81\x01" * 200),
        write(["a", 3, 0, "x"], ["a", 1, 0, 1]),
        write(["a", 3, 0, "x"]).replace(b"\xa1x", b"\xa1\xff"),
    ],
    ids=lambda message: message[:8].hex(),
)
def test_what_is_no_message(message: bytes) -> None:
    """What is cut off, too deep, empty, no UTF-8, or has a bin twice."""
    assert compare(batch_of([message]), OPTIONS).declined == 1


def test_any_encoding_of_a_value() -> None:
    """Integers, sizes and floats may take more bytes than they need."""
    wide = b"\xdd\x00\x00\x00\x03" + b"\xd3" + bytes(7) + b"\x01" + b"\xcd\x00\x01"
    payload = write(["n", 3, 0, "x"])[3:]
    message = wide + payload.replace(b"\xa1x", b"\xdb\x00\x00\x00\x01x")
    single = write(["n", 2, 0, 0.5]).replace(msgpack.packb(0.5), b"\xca\x3f\x00\x00\x00")
    assert compare(batch_of([message, single]), OPTIONS).declined == 0
