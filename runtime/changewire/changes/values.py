"""What the adapters share: times, bytes, keys, fingerprints, events without a row, refusals."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgspec

from changewire_messages.change import Change, Source
from changewire_messages.support import Extra

_FINGERPRINT_DIGITS: Final = 32

EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND: Final = timedelta(milliseconds=1)


class MismatchError(ValueError):
    """A value contradicts its declared type.

    Attributes:
        expected: What the type asks for.
    """

    def __init__(self, expected: str) -> None:
        """Remember what was expected."""
        super().__init__(expected)
        self.expected = expected


class EmbeddedSchema(NamedTuple):
    """The schema that stands in a message.

    Attributes:
        source: Where the rows of the message are.
        fingerprint: What `fingerprint` returns for the text.
        text: Its JSON text, as received.
    """

    source: Source
    fingerprint: str
    text: bytes


def from_milliseconds(milliseconds: int) -> datetime:
    """Return a time in UTC from milliseconds since the Unix epoch.

    Raises:
        OverflowError: The year is before 1 or after 9999.
    """
    return EPOCH + _MILLISECOND * milliseconds


def base64_bytes(text: str) -> bytes | None:
    """Return the bytes that Base64 text stands for (RFC 4648, section 4); None where it is none."""
    try:
        return msgspec.convert(text, bytes)
    except (msgspec.ValidationError, UnicodeError):
        return None


def fingerprint(raw: bytes) -> str:
    """Return the fingerprint of a schema's bytes: the first 128 bits of their SHA-256, as hex.

    SHA-256, because every tool can compute it again: in Spark
    ``left(sha2(schema, 256), 32)``. Processors have instructions for it, so BLAKE2b is no quicker.
    It is of the bytes: the same schema written otherwise has another one.
    """
    return hashlib.sha256(raw).hexdigest()[:_FINGERPRINT_DIGITS]


def control_event(
    op: Any, source: Source, attributes: dict[str, Any], schema_fingerprint: str | None = None
) -> Change:
    """Return an event that changes no row by itself, and has no time and no place in an order."""
    return Change(
        op=op,
        source=source,
        key=None,
        before_key=None,
        before=None,
        after=None,
        event_time=None,
        sequence=None,
        ddl=None,
        schema_fingerprint=schema_fingerprint,
        attributes=attributes,
    )


def system_of(format: str) -> str:
    """Return the name of the system whose messages have a format."""
    return format.partition("-")[0]


def unknown_event(message: msgspec.Struct, system: str) -> Change:
    """Return the event of a message whose variant no adapter knows: all that it holds is kept.

    A variant is read as soon as its schema is there; what it means for a table, its adapter says.
    """
    held = msgspec.to_builtins(message, builtin_types=(bytes, datetime, Decimal), enc_hook=_held)
    source = Source(system=system, database=None, schema=None, table=None)
    return control_event("other", source, {"message": held})


def _held(value: object) -> object:
    """Return what only models hold as what JSON has."""
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    if isinstance(value, Extra):
        return dict(value)
    return None if value is msgspec.UNSET else str(value)


def key_of(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any] | None:
    """Return the columns of a row that name it; None where one of them is not there or null."""
    found = {name: row.get(name) for name in names}
    return None if None in found.values() else found
