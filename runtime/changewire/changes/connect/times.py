"""Numbers that stand for dates, times and durations, as Kafka Connect and Debezium send them.

Nothing is rounded: what a Python type cannot hold raises `Kept`, and stays the number that it was.
Times of day lie in one day; databases also have longer and negative ones (MySQL's ``TIME``).
"""

from datetime import date, datetime, time, timedelta, timezone
from typing import Final

from changewire.changes.connect.notes import BEYOND_MICROSECONDS, BEYOND_RANGE

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EPOCH_DAY: Final = date(1970, 1, 1)
_DAY: Final = 24 * 60 * 60 * 1_000_000


class Kept(Exception):  # noqa: N818 - it reads as what happened
    """A Python type cannot hold a value, which is therefore kept as it was sent.

    Attributes:
        kind: The kind of note that says why.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


def date_of_days(days: int) -> date:
    """Return the date that lies so many days after 1970-01-01.

    Raises:
        OverflowError: Python has no such date.
    """
    return _EPOCH_DAY + timedelta(days)


def time_of_milliseconds(milliseconds: int) -> time:
    """Return the time of day that lies so many milliseconds after midnight, without a zone.

    Raises:
        Kept: It is not within one day.
    """
    return time_of_microseconds(milliseconds * 1000)


def time_of_microseconds(microseconds: int) -> time:
    """Return the time of day that lies so many microseconds after midnight, without a zone.

    Raises:
        Kept: It is not within one day.
    """
    if 0 <= microseconds < _DAY:
        return (_EPOCH + timedelta(0, 0, microseconds)).time()
    raise Kept(BEYOND_RANGE)


def time_of_nanoseconds(nanoseconds: int) -> time:
    """Return the time of day that lies so many nanoseconds after midnight, without a zone.

    Raises:
        Kept: It is not within one day, or no whole number of microseconds.
    """
    return time_of_microseconds(_microseconds(nanoseconds))


def timestamp_of_milliseconds(milliseconds: int) -> datetime:
    """Return the time, in UTC, that lies so many milliseconds after 1970-01-01.

    Raises:
        OverflowError: Python has no such time.
    """
    return _EPOCH + timedelta(0, 0, 0, milliseconds)


def timestamp_of_microseconds(microseconds: int) -> datetime:
    """Return the time, in UTC, that lies so many microseconds after 1970-01-01.

    Raises:
        OverflowError: Python has no such time.
    """
    return _EPOCH + timedelta(0, 0, microseconds)


def timestamp_of_nanoseconds(nanoseconds: int) -> datetime:
    """Return the time, in UTC, that lies so many nanoseconds after 1970-01-01.

    Raises:
        Kept: It is no whole number of microseconds.
        OverflowError: Python has no such time.
    """
    return timestamp_of_microseconds(_microseconds(nanoseconds))


def duration_of_microseconds(microseconds: int) -> timedelta:
    """Return the duration of so many microseconds."""
    return timedelta(0, 0, microseconds)


def duration_of_nanoseconds(nanoseconds: int) -> timedelta:
    """Return the duration of so many nanoseconds.

    Raises:
        Kept: It is no whole number of microseconds.
    """
    return timedelta(0, 0, _microseconds(nanoseconds))


def _microseconds(nanoseconds: int) -> int:
    microseconds, rest = divmod(nanoseconds, 1000)
    if rest:
        raise Kept(BEYOND_MICROSECONDS)
    return microseconds
