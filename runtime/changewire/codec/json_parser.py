"""JSON text to plain values, and what a parser's rejection means."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from changewire.codec.framed import framing_issue
from changewire.codec.issues import DecodeError, Issue
from changewire.codec.parser_texts import (
    BYTE,
    ESCAPE,
    OUT_OF_RANGE,
    SURROGATE,
    TRAILING,
    TRUNCATED,
)
from changewire.codec.wire import PARSER_ERRORS, Data, bytes_of, unexplained

RULE: Final = "json"

_BLANK: Final = b" \t\r\n"
_NO_JSON: Final = b"\x00" * 16
"""Bytes that no JSON text has, longer than any part of a text that msgspec reads in one step."""
_TOKEN: Final = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)', re.DOTALL
)
"""A text, or a number outside of texts."""


def parse_json(data: Data, format: str, decode: Callable[[Any], Any]) -> Any:
    """Return the JSON value of bytes or text, by the decoder of a format."""
    try:
        return decode(data)
    except BufferError:
        return parse_json(bytes_of(data), format, decode)
    except PARSER_ERRORS as error:
        issue, byte_offset = _refusal(bytes_of(data), error, decode)
    raise DecodeError(format, [issue], byte_offset)


def _refusal(
    data: bytes, error: BaseException, decode: Callable[[Any], Any]
) -> tuple[Issue, int | None]:
    """Say why a parser rejected bytes; with the byte offset if it is known."""
    if not data.strip(_BLANK):
        return Issue("", "empty", RULE, "one JSON value"), 0
    if (framed := framing_issue(data, RULE)) is not None:
        return framed, 0
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or b"\x00" in data[:2]:
        return Issue("", "invalid-unicode", RULE, "UTF-8 without byte order mark"), 0
    if isinstance(error, UnicodeError):
        return Issue("", "invalid-unicode", RULE, "UTF-8"), _first_not_utf8(data)
    if isinstance(error, (RecursionError, MemoryError)) or OUT_OF_RANGE in str(error):
        return unexplained(error, RULE), _first_out_of_range(data, error, decode)
    text = str(error)
    if TRUNCATED in text:
        text = _malformed_inside(data, decode) or text
    return _malformed(data, text)


def _malformed_inside(data: bytes, decode: Callable[[Any], Any]) -> str | None:
    """Return what is wrong inside of bytes that a parser called cut off; None if nothing is.

    msgspec calls them cut off where fewer bytes follow half of a surrogate pair than the other half
    has. With bytes behind them that no text has, it fails at the wrong bytes.
    """
    try:
        decode(data + _NO_JSON)
    except PARSER_ERRORS as error:
        text = str(error)
    else:
        return None
    byte = _byte_in(text)
    # Of a half pair it names the end; a backslash there may be where the other half begins.
    is_cut = byte is None or data[byte:] in {b"", b"\\"}
    return None if is_cut else text


def _byte_in(text: str) -> int | None:
    """Return the offset of the wrong byte; in an escape msgspec names the byte behind it."""
    found = BYTE.search(text)
    return int(found[1]) - (ESCAPE in text) if found else None


def _malformed(data: bytes, text: str) -> tuple[Issue, int | None]:
    """Say why bytes are not JSON, of which a parser said something in its own words."""
    byte = _byte_in(text)
    if SURROGATE in text:
        return Issue("", "invalid-unicode", RULE, "whole surrogate pairs"), byte
    if TRUNCATED in text:
        return Issue("", "truncated", RULE, "the rest of the message"), len(data)
    if TRAILING in text:
        return Issue("", "trailing-data", RULE, "nothing after the message"), byte
    return Issue("", "invalid-json", RULE, "a JSON value"), byte


def _first_out_of_range(
    data: bytes, error: BaseException, decode: Callable[[Any], Any]
) -> int | None:
    """Return where the first number is that a parser called out of range, if it did."""
    if OUT_OF_RANGE not in str(error):
        return None
    at = 0
    with suppress(*PARSER_ERRORS):
        for token in _TOKEN.finditer(data):
            at = token.start()
            decode(token["number"] or b"0")
        return None
    return at


def _first_not_utf8(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None
