"""What the adapters share: times and clocks, bytes, keys, schemas, declared columns, mismatches."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from changewire_messages.change import Source

UTC: Final = "UTC"

READ_IN_UTC: Final = "date-read-in-utc"
"""Leniency: a date was read in UTC, since the zone of its clock is not given."""

_JAVA_FIRST: Final = datetime(1900, 1, 1, tzinfo=timezone.utc)
_LATE: Final = (datetime(2037, 1, 1), datetime(2037, 7, 1))  # noqa: DTZ001 - of any zone
_MINUTE: Final = timedelta(minutes=1)


@cache
def time_zone(name: str) -> ZoneInfo | None:
    """Return a time zone by its IANA name; None for `UTC`, which needs no database of zones."""
    if name == UTC:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError, TypeError):  # none, a path, a folder, no text
        expected = "an IANA name such as Asia/Shanghai"
        raise ValueError(f"no time_zone {name!r}; expected {expected}") from None


def on_the_clock(time: datetime, zone: ZoneInfo, used: list[str]) -> datetime:
    """Return the same time with the offset by which the clocks of a zone showed it.

    Clocks are those of ``java.util.TimeZone``: before 1900 they have the standard time of today.
    The first moment of a day whose midnight was skipped is that midnight, which is what Java makes
    of a date. JSON text has offsets of whole minutes: where there are seconds, before standard time
    began, the clock is kept, the offset is rounded, and `used` gets ``rounded-offset``.
    """
    if time < _JAVA_FIRST:
        return time.astimezone(timezone(_standard_offset(zone)))
    local = time.astimezone(zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    # Times of one zone are subtracted by their clocks.
    if local - midnight == _offset(local) - _offset(midnight):
        local = midnight
    offset = _offset(local)
    minutes = round(offset / _MINUTE)
    if minutes * _MINUTE != offset:
        used.append("rounded-offset")
    return local.replace(tzinfo=timezone(minutes * _MINUTE), fold=0)


@cache
def _standard_offset(zone: ZoneInfo) -> timedelta:
    """Return the offset of a zone's standard time, by its latest rule."""
    return min(_offset(time.replace(tzinfo=zone)) for time in _LATE)


def _offset(time: datetime) -> timedelta:
    return time.utcoffset() or timedelta()


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
