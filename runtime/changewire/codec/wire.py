"""Bytes to plain Python values, and what a parser's refusal means."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from changewire_messages.support import Extra, OpenTag

from changewire.codec.issues import DecodeError, Issue

PARSER_ERRORS: Final = (msgspec.MsgspecError, UnicodeError, RecursionError, MemoryError)
"""Everything that msgspec raises for bytes it does not accept."""

_BYTE = re.compile(r"\(byte (\d+)\)")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_BLANK: Final = b" \t\r\n"


def parse_json(data: bytes | bytearray | memoryview | str | msgspec.Raw, format: str) -> Any:  # noqa: A002, ANN401 - the word of the API; any JSON value
    """Return the JSON value of bytes.

    Raises:
        DecodeError: The bytes are no JSON text, or nested too deep; never anything else.
    """
    try:
        return msgspec.json.decode(data)
    except PARSER_ERRORS as error:
        raise _refusal(data, error, format) from None


def read_unknown(kind: type, value: object) -> object:
    """Decode what only a model holds: an open tag, or unknown properties (a ``dec_hook``)."""
    return kind(value)


def write_unknown(value: object) -> object:
    """Encode what only a model holds: an open tag, or unknown properties (an ``enc_hook``)."""
    if isinstance(value, OpenTag):
        return str(value)
    if isinstance(value, Extra):
        return dict(value)
    raise TypeError(type(value).__name__)


def _refusal(data: bytes | bytearray | memoryview | str, error: Exception, format: str) -> DecodeError:  # noqa: A002
    """Say why a parser refused bytes, in our codes."""
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    code, expected, offset = _reason(text, error)
    return DecodeError(format, [Issue("", code, "json", expected)], offset)


def _reason(data: bytes, error: Exception) -> tuple[str, str, int | None]:
    """Return code, what was expected, and the byte offset where it is known."""
    text = str(error)
    if not data.strip(_BLANK):
        return "empty", "one JSON value", 0
    if isinstance(error, RecursionError):
        return "too-deep", "less nesting", None
    if isinstance(error, MemoryError):
        return "too-large", "a message that fits into memory", None
    if isinstance(error, UnicodeError):
        return "invalid-unicode", "UTF-8", None
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"} or data[:3] == b"\xef\xbb\xbf" or b"\x00" in data[:2]:
        return "invalid-unicode", "UTF-8 without byte order mark", 0
    if "out of range" in text:
        return "out-of-range", "a number that binary64 or an integer can hold", None
    if "truncated" in text and _SURROGATE.search(data):
        return "invalid-unicode", "whole surrogate pairs", None
    if "truncated" in text:
        return "truncated", "the rest of the message", len(data)
    found = _BYTE.search(text)
    code = "trailing-data" if "trailing" in text else "invalid-json"
    expected = "nothing after the message" if "trailing" in text else "a JSON value"
    return code, expected, int(found[1]) if found else None
