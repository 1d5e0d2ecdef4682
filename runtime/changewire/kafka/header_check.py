"""Checks of headers: against the format that a deserializer was given, and against the message."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from changewire.codec import DecodeError, Issue
from changewire.kafka.interface import SerializationContext
from changewire.kafka.messages import Messages, formats_with
from changewire.kafka.schema_header import HEADERS, SchemaHeader, parse, read

MISMATCH: Final = "header-mismatch"
_FORM: Final = "a header of the form FORMAT;variant=TITLE;schema=32 HEX DIGITS"
_UNKNOWN: Final = "unknown"


def header_in(
    ctx: SerializationContext | None, format: str | None, *, is_key: bool
) -> SchemaHeader | None:
    """Return what the header of a record says; None if it has none.

    Args:
        ctx: What a client says of the record.
        format: Name of the format that the reader expects; None if it expects none.
        is_key: Whether the key is meant.

    Raises:
        DecodeError: The header cannot be read, names a format that is not installed, or another
            one than the reader was given.
    """
    value = None if ctx is None else read(ctx, HEADERS[is_key])
    if value is None:
        return None
    header = parse(value)
    if header is None:
        raise DecodeError(format or _UNKNOWN, [Issue("", MISMATCH, "header", _FORM, value)])
    known = formats_with(is_key=is_key) if format is None else [format]
    if header.format not in known:
        _reject(format or _UNKNOWN, " or ".join(known), header.format)
    return header


def check_model(header: SchemaHeader, model: Any, messages: Messages) -> None:
    """Check that a message is what its header says, if both were made by the same schemas.

    A header of other schemas is that of another release, whose variants may be others.

    Raises:
        DecodeError: It is not.
    """
    found = messages.header(model)
    if header != found and header.schema in messages.digests:
        _reject(header.format, str(found), str(header))


def no_format() -> NoReturn:
    """Reject a key whose format is unknown.

    Raises:
        DecodeError: Always.
    """
    expected = "a header that names the format of the key"
    raise DecodeError(_UNKNOWN, [Issue("", "unknown-variant", "format", expected)])


def _reject(format: str, right: str, wrong: str) -> NoReturn:
    raise DecodeError(
        format, [Issue("", MISMATCH, "header", f"a header that says {right}, not {wrong}")]
    )
