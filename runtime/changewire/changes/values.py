"""What the adapters share: times, bytes, keys, schemas, declared columns, mismatches."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, Final, NamedTuple

import msgspec

from changewire_messages.change import Source

READ_IN_UTC: Final = "date-read-in-utc"
"""Leniency: a date was read in UTC, since the zone of its clock is not given."""

NUMERIC: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
"""Numeric text. `Decimal` also takes NaN, blanks, underscores and the digits of other scripts."""

_FINGERPRINT_DIGITS: Final = 32

EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND: Final = timedelta(milliseconds=1)


class MismatchError(ValueError):
    """A value contradicts its declared type; the text is what the type asks for."""


class EmbeddedSchema(NamedTuple):
    """The schema that is in a message."""

    source: Source
    fingerprint: str
    text: bytes


class Declared(NamedTuple):
    """A column for which a message itself declares a type."""

    pointer: str
    type: str
    value: Any


def from_milliseconds(milliseconds: int) -> datetime:
    """Return a time in UTC from milliseconds since the Unix epoch."""
    return EPOCH + _MILLISECOND * milliseconds


def base64_bytes(text: str) -> bytes | None:
    """Return the bytes that Base64 text represents (RFC 4648, section 4); None if it is not."""
    try:
        return msgspec.convert(text, bytes)
    except (msgspec.ValidationError, UnicodeError):
        return None


def fingerprint(raw: bytes) -> str:
    """Return the fingerprint of a schema's bytes: the first 128 bits of their SHA-256, as hex.

    SHA-256, because every tool can compute it again: in Spark
    ``left(sha2(schema, 256), 32)``. Processors have instructions for it, so BLAKE2b is not quicker.
    It is of the bytes: the same schema written otherwise has another one.
    """
    return hashlib.sha256(raw).hexdigest()[:_FINGERPRINT_DIGITS]


def key_of(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any] | None:
    """Return the columns of a row that name it; None if one of them is absent or null."""
    found: dict[str, Any] = {}
    for name in names:
        value = row.get(name)
        if value is None:
            return None
        found[name] = value
    return found
