"""Messages with bytes, tokens and whole parts changed: what a kernel must not read otherwise."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[{}\[\],:]')
_SCALAR: Final = re.compile(rb'"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d+(?:\.\d+)?|true|false|null')

PARTS: Final = (
    *(b"null", b"true", b"{}", b"[]", b'""', b'"NaN"', b'"AB=="', b'"AA=="', b'"-1"', b'"1"'),
    *(b"0", b"-0", b"-0.0", b"1.0", b"0.10", b"1e5", b"1E-7", b"00", b"1.", b"+1", b"0.000010"),
    *(b"0.0001234", b"0.00012340", b"1234567890123456.5", b"12345678901234567.5", b"0.1e1"),
    *(b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b"1e400"),
    *(b"18446744073709551615", b"18446744073709551616", b'"-infinity"'),
    *(
        b"12.5016021728515625",
        b"0.30000000000000004",
        b"123456789012345678.25",
        b"9007199254740993",
        b"4.35",
        b"65536",
    ),
    *(b'"1.100000"', b'"+1"', b'"0.0000001"', b'"0.000000"', b'"1e5"', b'"-0.10"', b'"007"'),
    *(b'".5"', b'"5."', b'"\\u00e9"', b'"\\ud83d\\ude00"', b'"\\ud800"', b'"\\n\\/\\u0001\\u007f"'),
    *(b'"\xc3\xa9\xf0\x9f\x98\x80"', b'"\xff"', b'"\xed\xa0\x80"', b'"\\x"', b'"\x01"', b'"a\nb"'),
    *(
        b'{"a":1,"a":2}',
        b'{"a": [1 , 2.50]}',
        b'{"\\u0061":1,"a":2}',
        b"[[[[1]]]]",
        b"1700000000000",
    ),
    *(b'"UPDATE_BEFORE"', b'"DELETE"', b'"CREATE"', b'"r"', b'"ROW"', b'"LONG"', b'"DOUBLE"'),
    *(b'"DATE"', b'"BYTES"', b'"STRING"', b'"BOOLEAN"', b'"GEOMETRY"', b'"int64"', b'"bytes"'),
)
"""What is put in the place of a part of a message."""

HEADS: Final = bytes((*range(0x7E, 0xA3), *range(0xBE, 0xE2)))
"""Bytes that MessagePack values of most types begin with."""

MEMBERS: Final = (b'"new":1,', b'"a/b~c":[1.50],', b'"@extra":{},', b'"\\u0061":1,', b' "x" : {} ,')
"""Members that no schema names."""


def damaged(format: str, messages: Sequence[bytes], number: int, seed: int) -> Iterator[bytes]:
    """Yield messages with one to three changes each, the same ones for a seed."""
    change = _byte_changed if "msgpack" in format else _token_changed
    draw = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(number):
        message = draw.choice(messages)
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            message = change(message, draw)
        yield message


def _byte_changed(message: bytes, draw: random.Random) -> bytes:
    """Return a message in MessagePack with a byte more, less, or another one; or a part twice."""
    place = draw.randrange(len(message) + 1)
    head, tail = message[:place], message[place:]
    byte = draw.choice((HEADS, range(256)))
    what = draw.randrange(8)
    if what == 0:
        return head + tail[1:]
    if what == 1:
        return head + bytes([draw.choice(byte)]) + tail
    if what == 2:
        return head + message[draw.randrange(place + 1) :]
    return head + bytes([draw.choice(byte)]) + tail[1:]


def _token_changed(message: bytes, draw: random.Random) -> bytes:
    tokens = [found.span() for found in _TOKEN.finditer(message)]
    scalars = [found.span() for found in _SCALAR.finditer(message)]
    if not tokens or not scalars:
        return message
    what = draw.randrange(12)
    start, stop = draw.choice(scalars if what < 8 else tokens)
    head, tail = message[:start], message[stop:]
    if what < 6:
        alike = [part for part in PARTS if _kind(part) == _kind(message[start:stop])]
        return head + draw.choice(alike if what < 4 and alike else PARTS) + tail
    if what < 8:
        first, last = draw.choice(scalars)
        return head + message[first:last] + tail
    if what < 10:
        return head + draw.choice((b" ", b"\n\t", b"")) + message[start:]
    return head + tail if what == 10 else _rare(message, draw)


def _kind(part: bytes) -> bool:
    """Return whether a scalar is a text; numbers and words stand for one another."""
    return part.startswith(b'"')


def _rare(message: bytes, draw: random.Random) -> bytes:
    """Return a message with a new member or another byte."""
    braces = [place + 1 for place, byte in enumerate(message) if byte == ord("{")]
    if braces and draw.randrange(2):
        place = draw.choice(braces)
        return message[:place] + draw.choice(MEMBERS) + message[place:]
    place = draw.randrange(len(message))
    return message[:place] + bytes([draw.randrange(256)]) + message[place + 1 :]
