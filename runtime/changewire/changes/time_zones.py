"""Clocks of time zones, for formats whose times are what the clocks of a source showed."""

from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

UTC: Final = "UTC"

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
