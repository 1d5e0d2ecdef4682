"""How messages are written: what the tests of the codec know of JSON and MessagePack."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st
from tests.runtime.codec.long_forms import longest

from changewire.codec.msgpack_parser import parse
from changewire.codec.msgpack_values import write_ext_key
from changewire_messages import drawing

Strategy = st.SearchStrategy[Any]


@dataclass(frozen=True)
class Encoding:
    """How the messages of a format are written.

    Attributes:
        rule: the rule that bytes break which are not of this encoding.
        dumps: returns the bytes of a value.
        loads: returns the value of bytes.
        hold: tells whether bytes are those of a value.
        written: draws the bytes of a value as some writer puts them.
        values: draws any value.
        is_batch: tells whether an array of these elements can only be a batch.
        trimmed: returns the bytes of a message without those that say nothing.
        damage: bytes to put in the place of others.
        cut_codes: codes for which the beginning of a message may be refused.
    """

    rule: str
    dumps: Callable[[Any], bytes]
    loads: Callable[[bytes], Any]
    hold: Callable[[bytes, Any], bool]
    written: Callable[[Any], Strategy]
    values: Callable[[], Strategy]
    is_batch: Callable[[list[Any]], bool]
    trimmed: Callable[[bytes], bytes]
    damage: bytes
    cut_codes: frozenset[str]


def dumps(value: Any) -> bytes:
    """Return the bytes of a JSON value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are the same: numbers by value, objects in any order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


@st.composite
def _written_json(draw: st.DrawFn, value: Any) -> bytes:
    """Draw JSON text: pretty or not, escaped or not."""
    indent, escaped = draw(st.sampled_from([None, 0, 3])), draw(st.booleans())
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    return draw(st.sampled_from(["", " \r\n\t"])).encode() + text.encode("utf-8")


@cache  # making a strategy takes longer than drawing from it
def _json_values() -> Strategy:
    return drawing.json_values() | st.integers() | st.sampled_from(["QQ==", "key"])


@cache
def _msgpack_values() -> Strategy:
    tags, lookalikes = st.integers(0, 24), st.sampled_from([1.0, 2.0, True, False, "1", b"1"])
    return drawing.msgpack_values() | tags | lookalikes | st.integers(-(2**63), 2**64 - 1)


_pack = msgspec.msgpack.Encoder(enc_hook=write_ext_key).encode
_FLIPS = bytes(1 << i for i in range(8))

ENCODINGS = {
    "json": Encoding(
        rule="json",
        dumps=dumps,
        loads=json.loads,
        hold=lambda data, value: same(json.loads(data), value),
        written=_written_json,
        values=_json_values,
        is_batch=lambda _: True,
        trimmed=bytes.strip,
        damage=b'\x00\x7f\x80\xc0\xed\xff"\\{}[],:019-+.eEntfu \n/',
        cut_codes=frozenset({"empty", "truncated", "invalid-json", "invalid-unicode"}),
    ),
    "msgpack": Encoding(
        rule="msgpack",
        dumps=_pack,
        loads=parse,
        hold=lambda data, value: data == _pack(value),
        written=lambda value: st.sampled_from([_pack(value), longest(value)]),
        values=_msgpack_values,
        # A message is an array as well; it begins with a number.
        is_batch=lambda elements: not elements or isinstance(elements[0], list),
        trimmed=bytes,
        damage=b"\x00\x80\x90\x93\xa0\xc0\xc1\xc4\xc6\xc9\xca\xcf\xd4\xd9\xdc\xdd\xdf\xff",
        cut_codes=frozenset({"empty", "truncated"}),
    ),
}
"""Every encoding, by the name that the generated package of a format has for it."""
