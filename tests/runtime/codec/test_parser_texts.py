"""The texts of msgspec that the codec reads are those of the installed msgspec."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from changewire.codec import parser_texts
from changewire_messages.hooks import exact_number


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    """An object below the root."""

    a: int = 0


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    """An object at the root."""

    inner: Inner
    number: float = 0


SAID: Mapping[str, list[tuple[bytes, Any]]] = {
    "UNKNOWN_FIELD": [(b'{"inner": {}, "b": 1}', Outer), (b'{"inner": {"b": 1}}', Outer)],
    "BELOW_THE_ROOT": [(b'{"inner": {"b": 1}}', Outer), (b'{"inner": {"a": "1"}}', Outer)],
    "OUT_OF_RANGE": [
        (b"1e400", Any),
        (b'{"inner": {}, "number": 1e400}', Outer),
        (b"9" * 5000, Any),
    ],
    "TRUNCATED": [(b'{"a": [1', Any), (b'"a', Any), (b'"\\ud800"', Any), (b'{"inner"', Outer)],
    "TRAILING": [(b"{} {}", Any), (b'{"inner": {}}1', Outer)],
    "SURROGATE": [(b'"\\ud800 and more text"', Any), (b'"\\udc00"', Any)],
    "ESCAPE": [(b'"\\u00zz and more"', Any)],
    "BYTE": [(b'{"a": x}', Any), (b'"\\u00zz and more"', Any), (b'{"inner": x}', Outer)],
}
"""For each text that is looked for, messages that msgspec refuses with it, and their type."""

NOT_SAID: Mapping[str, list[tuple[bytes, Any]]] = {
    "UNKNOWN_FIELD": [(b"{}", Outer), (b'{"inner": 1}', Outer)],
    "BELOW_THE_ROOT": [(b'{"inner": {}, "b": 1}', Outer), (b"{}", Outer), (b"[]", Outer)],
    "OUT_OF_RANGE": [(b"x", Any)],
    "TRUNCATED": [(b'{"a": x}', Any), (b"{} {}", Any)],
    "TRAILING": [(b'{"a": x}', Any), (b'{"a": [1', Any)],
    "SURROGATE": [(b'"\\u00zz and more"', Any)],
    "ESCAPE": [(b'{"a": x}', Any)],
    "BYTE": [(b'{"a": [1', Any)],
}
"""Messages that it refuses with another text."""


def text_of(data: bytes, kind: Any) -> str:
    """Return what msgspec says of a message that it refuses."""
    with pytest.raises(msgspec.MsgspecError) as refused:
        msgspec.json.decode(data, type=kind)
    return str(refused.value)


def finds(name: str, text: str) -> bool:
    """Return whether the codec finds a part in a text of msgspec."""
    part: str | re.Pattern[str] = getattr(parser_texts, name)
    return bool(re.search(re.escape(part) if isinstance(part, str) else part, text))


def test_every_text_is_held() -> None:
    """A part that is looked for is one of those that these tests hold."""
    assert SAID.keys() == NOT_SAID.keys() == {n for n in vars(parser_texts) if n.isupper()}


@pytest.mark.parametrize("name", SAID)
def test_msgspec_says_what_the_codec_looks_for(name: str) -> None:
    """Messages that are refused for a reason are refused with its text, and others are not."""
    assert [data for data, kind in SAID[name] if not finds(name, text_of(data, kind))] == []
    assert [data for data, kind in NOT_SAID[name] if finds(name, text_of(data, kind))] == []


def test_the_byte_that_is_named_is_the_wrong_one() -> None:
    """The offset is that of the wrong byte; in an escape it is the one behind it."""
    for data, offset in ((b'{"a": x}', 6), (b'"\\u00zz and more"', 6)):
        found = parser_texts.BYTE.search(text_of(data, Any))
        assert found is not None
        assert int(found[1]) == offset


def test_a_hook_speaks_as_msgspec_does() -> None:
    """A number that no decimal holds is refused with the words for those that no float holds."""
    with pytest.raises(ValueError, match=parser_texts.OUT_OF_RANGE):
        exact_number("1e99999999999999999999")
