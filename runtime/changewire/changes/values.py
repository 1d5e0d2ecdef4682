"""Values that the adapters share: times, bytes, keys, and what a reader of a column refuses."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, Final

import msgspec

EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


class MismatchError(ValueError):
    """A value contradicts its declared type.

    Attributes:
        expected: What the type asks for.
    """

    def __init__(self, expected: str) -> None:
        """Remember what was expected."""
        super().__init__(expected)
        self.expected = expected


def from_milliseconds(milliseconds: int) -> datetime:
    """Return a time in UTC from milliseconds since the Unix epoch.

    Raises:
        OverflowError: The year is before 1 or after 9999.
    """
    return EPOCH + timedelta(0, 0, 0, milliseconds)


def base64_bytes(text: str) -> bytes | None:
    """Return the bytes that Base64 text stands for (RFC 4648, section 4); None where it is none."""
    try:
        return msgspec.convert(text, bytes)
    except (msgspec.ValidationError, UnicodeError):
        return None


def key_of(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any] | None:
    """Return the columns of a row that name it; None where one of them is not there or null."""
    found = {name: row.get(name) for name in names}
    return None if None in found.values() else found
