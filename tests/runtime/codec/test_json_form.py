"""What MessagePack holds and JSON lacks, as JSON to read."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext
from tests.runtime.codec.formats import modest
from tests.runtime.codec.packed import CODEC, KEY, pack, write

import changewire as cw
from changewire.codec import ExtKey, json_form

FORMS: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (2**64 - 1, 2**64 - 1),
    (1.0, 1.0),
    ("text", "text"),
    (b"bytes", "Ynl0ZXM="),
    (b"", ""),
    (Ext(23, b"{}"), {"ext": 23, "data": "e30="}),
    (Ext(-1, b""), {"ext": -1, "data": ""}),
    (math.nan, "NaN"),
    (math.inf, "Infinity"),
    (-math.inf, "-Infinity"),
    ({}, {}),
    ({"a": [b"x", (1, None)]}, {"a": ["eA==", [1, None]]}),
    ({1: "a", "b": {b"k": 1.5}}, [[1, "a"], ["b", [["aw==", 1.5]]]]),
    ({ExtKey(5, b"x"): 1, (1, (2,)): 2}, [[{"ext": 5, "data": "eA=="}, 1], [[1, [2]], 2]]),
]


@pytest.mark.parametrize(("value", "expected"), FORMS, ids=repr)
def test_forms(value: Any, expected: Any) -> None:
    """Each type has one form, at any depth; what JSON has stays as it is."""
    assert json_form(value) == expected
    assert json_form([{"deep": value}]) == [{"deep": expected}]


def test_messages_are_written_position_by_position() -> None:
    """A message is the array that it is on the wire; a batch is a list of such."""
    model = CODEC.decode(pack(write(b"x", {1: math.nan})))
    text = CODEC.to_json(model)
    digest = "MDEyMzQ1Njc4OTo7PD0+P0BBQkM="
    bins = [["b", "eA=="], ["b", [[1, "NaN"]]]]
    assert json.loads(text) == [1, 1, [["ns", "set", digest, 1], 7, bins]]
    assert json.loads(CODEC.to_json([model])) == [json.loads(text)]
    assert json.loads(CODEC.to_json(CODEC.decode_key(pack(KEY)))) == ["ns", "set", digest, 1]


def test_a_format_that_is_json_stays_as_it_is_sent() -> None:
    """Of a JSON format the text is what encoding gives."""
    data = b'["n",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",1]'
    assert cw.codec("aerospike-json").to_json(cw.decode_key(data, format="aerospike-json")) == data


def test_what_is_nested_too_deep_is_refused() -> None:
    """Depth ends in an error of the codec, as in encoding."""
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    model = CODEC.decode(pack(write(1)))
    with pytest.raises(cw.EncodeError) as refused:
        CODEC.to_json([model, value])
    assert refused.value.code == "too-deep"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@modest
@given(VALUES)
def test_what_json_has_is_not_changed(value: Any) -> None:
    """A value of finite numbers, text, lists and maps with text as keys is its own form."""
    text = msgspec.json.encode(json_form(value))
    assert json.loads(text, parse_constant=pytest.fail) == json_form(value)
    if "NaN" not in repr(json_form(value)) and "Infinity" not in repr(json_form(value)):
        assert json_form(value) == value


@modest
@given(st.dictionaries(st.integers() | st.booleans() | st.text() | st.binary(), st.none()))
def test_no_entry_of_a_map_is_lost(value: dict[Any, Any]) -> None:
    """Keys that JSON would make the same text of stay apart."""
    assert len(json.loads(json.dumps(json_form(value)))) == len(value)
