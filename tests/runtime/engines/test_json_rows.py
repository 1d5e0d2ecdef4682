"""Rows of tables as JSON text."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from changewire.engines.json_rows import packed, unpacked, with_key
from changewire.tables.keys import key_text

NAMES = st.sampled_from(["id", "a", "id2", 'x"', "", "é", "i"])
VALUES = st.none() | st.integers() | st.text() | st.lists(st.integers())


@given(
    key=st.dictionaries(NAMES, st.integers(0, 12) | st.text(max_size=2), max_size=3),
    row=st.dictionaries(NAMES, VALUES | st.dictionaries(NAMES, VALUES)),
    has_key=st.sampled_from(["first", "last", "part", "no"]),
)
def test_with_key(key: dict[str, Any], row: dict[str, Any], has_key: str) -> None:
    """A row has the columns of its key, first those that it lacks, and each column once."""
    ordered = dict(sorted(key.items()))
    some = dict([*ordered.items()][1:])
    whole = {
        "first": {**ordered, **row, **ordered},
        "last": {**row, **ordered},
        "part": {**row, **some},
        "no": row,
    }[has_key]
    text, after = key_text(key), msgspec.json.encode(whole).decode()
    assert with_key(text, after) == packed(text, unpacked(after))
    expected = {name: value for name, value in ordered.items() if name not in whole} | whole
    assert [*json.loads(with_key(text, after)).items()] == [*expected.items()]


@pytest.mark.parametrize(
    "row",
    ["", "null", "[1]", '{"id":1', '{"id":1,', '{"id":1,"a"}', '{"id":1}}', '{"id":1,"a":tru}'],
)
def test_with_key_of_other_text(row: str) -> None:
    """Text that is not a JSON object has no columns, also if it begins with the key."""
    with pytest.raises(msgspec.DecodeError):
        with_key('{"id":1}', row)
