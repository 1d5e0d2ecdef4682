"""Columns of JSON text, in which one text is cut to many and some are NULL."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from changewire_messages.columns import json_texts

ROWS = st.none() | st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=2)


@settings(deadline=None, max_examples=50)
@given(st.lists(ROWS, max_size=20))
def test_each_value_is_its_text_or_null(values: list[dict[str, Any] | None]) -> None:
    """Every text stands at its place, whatever is in it and however many are NULL."""
    texts = json_texts(values, nullable=True)
    texts.validate(full=True)
    assert texts.to_pylist() == [
        None if value is None else msgspec.json.encode(value).decode() for value in values
    ]
