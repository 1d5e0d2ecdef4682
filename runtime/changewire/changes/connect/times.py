"""Dates, times and durations, as Kafka Connect and Debezium send them: as numbers and as text.

Nothing is rounded: a value that a Python type cannot represent raises `UnrepresentableError` or
OverflowError, and stays as it was sent. Text that is not such a value raises ValueError. Times of
day lie in one day; databases also have longer and negative ones (MySQL's ``TIME``). The texts are
those of Java's ``DateTimeFormatter``, which has nanoseconds and years beyond 9999.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from functools import wraps
from typing import Final, TypeVar

from changewire.changes.connect.reads import BEYOND_MICROSECONDS, BEYOND_RANGE
from changewire.changes.values import EPOCH

Made = TypeVar("Made")

_EPOCH_DAY: Final = date(1970, 1, 1)
_DAY: Final = 24 * 60 * 60 * 1_000_000


class UnrepresentableError(Exception):
    """A Python type cannot represent a value, which stays as it was sent; its text is a note."""


def date_of_days(days: int) -> date:
    """Return the date that lies so many days after 1970-01-01."""
    return _EPOCH_DAY + timedelta(days)


def time_of_milliseconds(milliseconds: int) -> time:
    """Return the time of day that lies so many milliseconds after midnight, without a zone."""
    return time_of_microseconds(milliseconds * 1000)


def time_of_microseconds(microseconds: int) -> time:
    """Return the time of day that lies so many microseconds after midnight, without a zone."""
    if 0 <= microseconds < _DAY:
        return (EPOCH + timedelta(0, 0, microseconds)).time()
    raise UnrepresentableError(BEYOND_RANGE)


def timestamp_of_microseconds(microseconds: int) -> datetime:
    """Return the time, in UTC, that lies so many microseconds after 1970-01-01."""
    return EPOCH + timedelta(0, 0, microseconds)


def duration_of_microseconds(microseconds: int) -> timedelta:
    """Return the duration of so many microseconds."""
    return timedelta(0, 0, microseconds)


def of_nanoseconds(convert: Callable[[int], Made]) -> Callable[[int], Made]:
    """Return what does for nanoseconds what another function does for microseconds."""

    @wraps(convert)
    def converted(nanoseconds: int) -> Made:
        microseconds, rest = divmod(nanoseconds, 1000)
        if rest:
            raise UnrepresentableError(BEYOND_MICROSECONDS)
        return convert(microseconds)

    return converted


time_of_nanoseconds: Final = of_nanoseconds(time_of_microseconds)
timestamp_of_nanoseconds: Final = of_nanoseconds(timestamp_of_microseconds)
duration_of_nanoseconds: Final = of_nanoseconds(duration_of_microseconds)


_DATE_PART: Final = r"([+-]?\d{4,9})-(\d\d)-(\d\d)"
_TIME_PART: Final = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
_OFFSET_PART: Final = r"(?:Z|([+-])([01]\d):([0-5]\d)(?::([0-5]\d))?)"

_DATE: Final = re.compile(f"{_DATE_PART}Z?", re.ASCII)
_TIME: Final = re.compile(f"{_TIME_PART}{_OFFSET_PART}", re.ASCII)
_TIMESTAMP: Final = re.compile(f"{_DATE_PART}T{_TIME_PART}{_OFFSET_PART}", re.ASCII)

_MICROSECOND_DIGITS: Final = 6


def date_of_text(text: str) -> date:
    """Return the date of ``2023-11-21Z`` or ``2023-11-21`` (`io.debezium.time.IsoDate`, UTC)."""
    return date(*_year_month_day(*_parts(_DATE, text)))


def time_of_text(text: str) -> time:
    """Return the time of day, with its offset, of ``10:15:30.5+01:00`` (``ZonedTime``)."""
    hour, minute, second, fraction, *offset = _parts(_TIME, text)
    return time(*_clock(hour, minute, second, fraction), tzinfo=timezone(_offset(*offset)))


def local_time_of_text(text: str) -> time:
    """Return the time of day of ``10:15:30.5Z`` (`io.debezium.time.IsoTime`), without a zone."""
    found = time_of_text(text)
    if found.tzinfo != timezone.utc:
        raise ValueError
    return found.replace(tzinfo=None)


def timestamp_of_text(text: str) -> datetime:
    """Return the time, in UTC, of ``2011-12-03T10:15:30.5+01:00``."""
    local, offset = _local_time(text)
    return local.replace(tzinfo=timezone.utc) - offset


def wall_clock_of_text(text: str) -> datetime:
    """Return what the clock shows at ``2011-12-03T10:15:30.5+01:00``, without a zone."""
    return _local_time(text)[0]


def _local_time(text: str) -> tuple[datetime, timedelta]:
    """Return what the clock shows at a time, without a zone, and its offset from UTC."""
    year, month, day, hour, minute, second, fraction, *offset = _parts(_TIMESTAMP, text)
    calendar = _year_month_day(year, month, day)
    local = datetime(*calendar, *_clock(hour, minute, second, fraction))  # noqa: DTZ001 - as said
    return local, _offset(*offset)


def _parts(form: re.Pattern[str], text: str) -> tuple[str, ...]:
    found = form.fullmatch(text)
    if not found:
        raise ValueError
    return found.groups("")


def _year_month_day(year: str, month: str, day: str) -> tuple[int, int, int]:
    if not date.min.year <= int(year) <= date.max.year:
        raise UnrepresentableError(BEYOND_RANGE)
    return int(year), int(month), int(day)


def _clock(hour: str, minute: str, second: str, fraction: str) -> tuple[int, int, int, int]:
    """Return hour, minute, second and microsecond."""
    if fraction[_MICROSECOND_DIGITS:].strip("0"):
        raise UnrepresentableError(BEYOND_MICROSECONDS)
    microsecond = fraction[:_MICROSECOND_DIGITS].ljust(_MICROSECOND_DIGITS, "0")
    return int(hour), int(minute), int(second or 0), int(microsecond)


def _offset(sign: str, hours: str, minutes: str, seconds: str) -> timedelta:
    if not sign:
        return timedelta()
    size = timedelta(0, int(seconds or 0), 0, 0, int(minutes), int(hours))
    return -size if sign == "-" else size
