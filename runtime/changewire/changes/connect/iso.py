"""Text that stands for dates and times, as Debezium writes it with Java's ``DateTimeFormatter``.

Java has nanoseconds and years beyond 9999, which Python has not: such text raises `Kept`.
"""

import re
from datetime import date, datetime, time, timedelta, timezone
from typing import Final

from changewire.changes.connect.notes import BEYOND_MICROSECONDS, BEYOND_RANGE
from changewire.changes.connect.times import Kept

_DATE_PART: Final = r"([+-]?\d{4,9})-(\d\d)-(\d\d)"
_TIME_PART: Final = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
_OFFSET_PART: Final = r"(?:Z|([+-])([01]\d):([0-5]\d)(?::([0-5]\d))?)"

_DATE: Final = re.compile(f"{_DATE_PART}Z?", re.ASCII)
_TIME: Final = re.compile(f"{_TIME_PART}{_OFFSET_PART}", re.ASCII)
_TIMESTAMP: Final = re.compile(f"{_DATE_PART}T{_TIME_PART}{_OFFSET_PART}", re.ASCII)

_MICROSECOND_DIGITS: Final = 6


def date_of_text(text: str) -> date:
    """Return the date of ``2023-11-21Z`` or ``2023-11-21`` (`io.debezium.time.IsoDate`, UTC).

    Raises:
        Kept: Python has no such date.
        ValueError: The text is no date.
    """
    return date(*_year_month_day(*_parts(_DATE, text)))


def time_of_text(text: str) -> time:
    """Return the time of day, with its offset, of ``10:15:30.5+01:00`` (`ZonedTime`).

    Raises:
        Kept: It has digits below the microsecond.
        ValueError: The text is no time.
    """
    hour, minute, second, fraction, *offset = _parts(_TIME, text)
    return time(*_clock(hour, minute, second, fraction), tzinfo=timezone(_offset(*offset)))


def local_time_of_text(text: str) -> time:
    """Return the time of day of ``10:15:30.5Z`` (`io.debezium.time.IsoTime`), without a zone.

    It comes from a column without a zone; the one in the text is always UTC.

    Raises:
        Kept: It has digits below the microsecond.
        ValueError: The text is no time, or has another offset.
    """
    found = time_of_text(text)
    if found.tzinfo != timezone.utc:
        raise ValueError
    return found.replace(tzinfo=None)


def timestamp_of_text(text: str) -> datetime:
    """Return the time, in UTC, of ``2011-12-03T10:15:30.5+01:00``.

    Raises:
        Kept: It has digits below the microsecond, or Python has no such year.
        OverflowError: Python has no such time.
        ValueError: The text is no date and time.
    """
    year, month, day, hour, minute, second, fraction, *offset = _parts(_TIMESTAMP, text)
    calendar = _year_month_day(year, month, day)
    local = datetime(*calendar, *_clock(hour, minute, second, fraction), tzinfo=timezone.utc)
    return local - _offset(*offset)


def _parts(form: re.Pattern[str], text: str) -> tuple[str, ...]:
    found = form.fullmatch(text)
    if not found:
        raise ValueError
    return found.groups("")


def _year_month_day(year: str, month: str, day: str) -> tuple[int, int, int]:
    if not date.min.year <= int(year) <= date.max.year:
        raise Kept(BEYOND_RANGE)
    return int(year), int(month), int(day)


def _clock(hour: str, minute: str, second: str, fraction: str) -> tuple[int, int, int, int]:
    """Return hour, minute, second and microsecond."""
    if fraction[_MICROSECOND_DIGITS:].strip("0"):
        raise Kept(BEYOND_MICROSECONDS)
    microsecond = fraction[:_MICROSECOND_DIGITS].ljust(_MICROSECOND_DIGITS, "0")
    return int(hour), int(minute), int(second or 0), int(microsecond)


def _offset(sign: str, hours: str, minutes: str, seconds: str) -> timedelta:
    if not sign:
        return timedelta()
    size = timedelta(0, int(seconds or 0), 0, 0, int(minutes), int(hours))
    return -size if sign == "-" else size
