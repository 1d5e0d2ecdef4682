"""Any values, written by an independent producer, survive decoding and encoding."""

import struct
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext
from tests.runtime.codec.formats import FORMATS, modest, name_of, role_of, wire_of
from tests.runtime.codec.long_forms import longest, of_many
from tests.runtime.codec.packed import CODEC, holding, pack, value_in, write

import changewire as cw
from changewire.codec.msgpack_values import ExtKey

INTEGERS = st.integers(-(2**63), 2**64 - 1)
SCALARS = st.none() | st.booleans() | INTEGERS | st.floats() | st.text() | st.binary(max_size=40)
EXTS = st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=20))
KEYS = st.integers(-(2**63), 2**63 - 1) | st.text() | st.binary(max_size=20) | EXTS
VALUES = st.recursive(
    SCALARS | EXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def ours(value: Any, *, is_key: bool = False) -> Any:
    """Return what the codec makes of a value of the producer."""
    if isinstance(value, msgpack.ExtType):
        return (ExtKey if is_key else Ext)(value.code, value.data)
    if isinstance(value, list):
        return [ours(item) for item in value]
    if isinstance(value, dict):
        return {ours(key, is_key=True): ours(item) for key, item in value.items()}
    return value


def same(one: Any, other: Any) -> bool:
    """Tell whether values are the same, to the type and to the bits of a float."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one), list(other)) and same(list(one.values()), list(other.values()))
    if isinstance(one, float):
        return struct.pack(">d", one) == struct.pack(">d", other)
    return bool(one == other)


@modest
@given(VALUES)
def test_values_are_read_as_they_were_written(value: Any) -> None:
    """A value of any type and depth has its type and its bits, in the same order."""
    assert same(value_in(pack(write(value))), ours(value))


@modest
@given(VALUES)
def test_bytes_survive(value: Any) -> None:
    """Decoding and encoding gives the bytes of a producer that writes the shortest forms."""
    data = pack(write(value))
    assert CODEC.encode(CODEC.decode(data)) == data


@modest
@given(VALUES)
def test_long_forms_mean_what_short_ones_do(value: Any) -> None:
    """A producer that never takes the shortest form sends the same messages."""
    assert same(value_in(holding(longest(value))), ours(value))
    everywhere = longest(write(value))
    assert same(value_in(everywhere), ours(value))
    (element,) = CODEC.decode_all(of_many(b"\xdd", 1, [write(value)]))
    assert not isinstance(element, cw.Rejection)


@modest
@given(st.dictionaries(KEYS, SCALARS, min_size=1, max_size=4), st.data())
def test_a_key_that_comes_again_is_refused(entries: dict[Any, Any], data: st.DataObject) -> None:
    """A map with a key twice is refused, with the place of the second one, whatever its values."""
    again = data.draw(st.sampled_from(list(entries)))
    raw = b"\xdf" + (len(entries) + 1).to_bytes(4, "big")
    raw += b"".join(pack(part) for pair in entries.items() for part in pair)
    (issue,) = CODEC.validate(holding(raw + pack(again) + pack(None)))
    assert issue.code == "duplicate-key"
    assert issue.actual == ours(again, is_key=True)


AEROSPIKE = FORMATS["aerospike-msgpack"]


@pytest.mark.parametrize("path", AEROSPIKE.golden("valid"), ids=name_of)
def test_the_corpus_is_sent_in_the_shortest_form(path: Path) -> None:
    """What was read is sent with the bytes that the reference implementation writes."""
    value = msgpack.unpackb(wire_of(path), strict_map_key=False, use_list=False)
    sent = AEROSPIKE.codec.encode(AEROSPIKE.read(wire_of(path), role_of(path)))
    assert sent == msgpack.packb(value)
    assert (sent == wire_of(path)) == ("long-forms" not in path.stem and "32" not in path.stem)
