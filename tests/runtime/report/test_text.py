"""Text of strangers, made fit to be shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from changewire.report.text import excerpt, visible


@given(st.text(), st.integers(1, 50))
def test_visible_text_prints_and_is_short(text: str, limit: int) -> None:
    """Whatever the text, what is shown is one line of at most so many printing characters."""
    shown = visible(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit


@given(st.text(st.characters(categories=["L", "N", "P"]), max_size=20))
def test_printing_text_stays(text: str) -> None:
    """Text that prints and is short is shown as it is, in whatever script."""
    assert visible(text) == text


def test_what_does_not_print_is_escaped() -> None:
    """Controls, direction marks, line separators and half surrogates are written as in Python."""
    assert visible("a\x1b\n\x9b\u202e\u2028\ud800\U000e0001") == (
        r"a\x1b\n\x9b\u202e\u2028\ud800\U000e0001"
    )


def test_what_is_cut_off_is_marked() -> None:
    """Long text ends with an ellipsis, and its rest is never looked at."""
    assert visible("x" * 11, 10) == "x" * 9 + "…"
    assert visible("x" * 10, 10) == "x" * 10


@given(st.binary(), st.integers(1, 50))
def test_any_bytes_have_an_excerpt(value: bytes, limit: int) -> None:
    """A message that is no text is shown all the same."""
    shown = excerpt(value, limit)
    assert shown is not None
    assert shown.isprintable()
    assert len(shown) <= limit


def test_no_message_has_no_excerpt() -> None:
    """Nothing is shown of a message that is not there."""
    assert excerpt(None) is None
    assert excerpt("ü".encode()) == excerpt(bytearray("ü".encode())) == excerpt("ü") == "ü"
