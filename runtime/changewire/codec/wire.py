"""Bytes to plain Python values, and what a parser's refusal means."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import msgspec

from changewire.codec.issues import DecodeError, Issue
from changewire_messages.support import Extra, OpenTag

PARSER_ERRORS: Final = (
    msgspec.MsgspecError,
    UnicodeError,
    RecursionError,
    MemoryError,
    BufferError,  # of a memoryview with gaps
)
"""Everything that msgspec raises for bytes it does not accept."""

TOO_DEEP: Final = Issue("", "too-deep", "json", "less nesting")
_TOO_LARGE: Final = Issue("", "too-large", "json", "a message that fits into memory")
_OUT_OF_RANGE: Final = Issue(
    "", "out-of-range", "json", "a number that binary64 or an integer can hold"
)
_DISAGREES: Final = Issue("", "rule-broken", "decode", "a message that its model accepts")

_BYTE = re.compile(r"\(byte (\d+)\)")
_BLANK: Final = b" \t\r\n"
# Half of a pair, as an escape: what follows is neither another escape nor the end of the bytes.
_HALF_PAIR = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}[^\\]")


def exact_number(text: str) -> float | Decimal:
    """Return a JSON number with fraction or exponent: as a decimal where binary64 cannot hold it.

    A ``float_hook`` of msgspec. Binary64 gives back the digits of numbers that have up to 15
    (IEEE 754).
    """
    number = float(text)
    if len(text) <= _EXACT_DIGITS and "e" not in text and "E" not in text:
        return number
    exact = Decimal(text)
    return number if Decimal(repr(number)) == exact else exact


_EXACT_DIGITS: Final = 15

Data = bytes | bytearray | memoryview | str | msgspec.Raw
"""What a message may be given as."""

FloatHook = Callable[[str], Any] | None


def parse_json(data: Data, format: str, float_hook: FloatHook = None) -> Any:
    """Return the JSON value of bytes.

    Args:
        data: The bytes, or text.
        format: Public name of the format.
        float_hook: What reads numbers with fraction or exponent, in place of binary64.

    Raises:
        DecodeError: The bytes are no JSON text, or nested too deep; never anything else.
    """
    try:
        return msgspec.json.Decoder(float_hook=float_hook).decode(data)
    except BufferError:
        return parse_json(_bytes(data), format, float_hook)
    except PARSER_ERRORS as error:
        issue, byte_offset = _refusal(_bytes(data), error)
    raise DecodeError(format, [issue], byte_offset)


def read_unknown(kind: type, value: object) -> object:
    """Decode what only a model holds: an open tag, or unknown properties (a ``dec_hook``)."""
    if kind is OpenTag and not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return kind(value)


def write_unknown(value: object) -> object:
    """Encode what only a model holds: an open tag, or unknown properties (an ``enc_hook``)."""
    if isinstance(value, OpenTag):
        return str(value)
    if isinstance(value, Extra):
        return dict(value)
    raise TypeError(type(value).__name__)


def unexplained(error: BaseException) -> Issue:
    """Return the issue of a message in which the schema finds nothing wrong, but its model does.

    The texts of msgspec hold values of the message, so they are never passed on.
    """
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if isinstance(error, MemoryError):
        return _TOO_LARGE
    return _OUT_OF_RANGE if "out of range" in str(error) else _DISAGREES


def _bytes(data: Any) -> bytes:
    return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)


def _refusal(data: bytes, error: BaseException) -> tuple[Issue, int | None]:
    """Say why a parser refused bytes; with the byte offset, where it is known."""
    if not data.strip(_BLANK):
        return Issue("", "empty", "json", "one JSON value"), 0
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or b"\x00" in data[:2]:
        return Issue("", "invalid-unicode", "json", "UTF-8 without byte order mark"), 0
    if isinstance(error, UnicodeError):
        return Issue("", "invalid-unicode", "json", "UTF-8"), _first_not_utf8(data)
    if isinstance(error, (RecursionError, MemoryError)) or "out of range" in str(error):
        return unexplained(error), None
    return _malformed(data, str(error))


def _malformed(data: bytes, text: str) -> tuple[Issue, int | None]:
    """Say what is no JSON in bytes, of which a parser said something in its own words."""
    found = _BYTE.search(text)
    byte = int(found[1]) if found else None
    if "surrogate" in text or ("truncated" in text and _HALF_PAIR.search(data)):
        return Issue("", "invalid-unicode", "json", "whole surrogate pairs"), byte
    if "truncated" in text:
        return Issue("", "truncated", "json", "the rest of the message"), len(data)
    if "trailing characters" in text:
        return Issue("", "trailing-data", "json", "nothing after the message"), byte
    return Issue("", "invalid-json", "json", "a JSON value"), byte


def _first_not_utf8(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None
