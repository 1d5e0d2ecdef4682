"""What MessagePack holds and JSON lacks, as the readable JSON of changes."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext
from tests.runtime.codec.formats import modest
from tests.support.ids import shown

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


@pytest.mark.parametrize(("value", "expected"), FORMS, ids=shown)
def test_forms(value: Any, expected: Any) -> None:
    """Each type has one form, at any depth; what JSON has stays as it is."""
    assert json_form(value) == expected
    assert json_form([{"deep": value}]) == [{"deep": expected}]


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
