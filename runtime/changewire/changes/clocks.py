"""What clocks of a time zone show, as Java knows them."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from functools import cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from changewire.changes.values import EPOCH

UTC: Final = "UTC"

_JAVA_FIRST: Final = datetime(1900, 1, 1, tzinfo=timezone.utc)
_LATE: Final = (datetime(2037, 1, 1), datetime(2037, 7, 1))  # noqa: DTZ001 - of any zone
_MINUTE: Final = timedelta(minutes=1)
_SECOND: Final = timedelta(seconds=1)
_DAY: Final = 24 * 60 * 60

_STEP: Final = 3 * _DAY
"""Seconds in which no clocks change twice: since 1900, 7 days are the least of all zones."""

_SETTLED: Final = 2 * _DAY
"""Seconds after a change in which a time may be that of a midnight that was skipped."""

_LAST: Final = datetime(2100, 1, 1, tzinfo=timezone.utc)
_YEARS: Final = 10 * 366 * _DAY
"""Seconds in which clocks change that change every year."""


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


@cache
def offsets_of(name: str) -> Sequence[tuple[int, int | None]]:
    """Return the offsets that `on_the_clock` gives to times of a zone without leniencies.

    Each has the second since 1970-01-01 from which on it is right, and minutes ahead of UTC. They
    are None where `on_the_clock` must be asked: before 1900, in the two days after the clocks
    changed, for offsets of no whole minutes, and from 2100 on if the clocks change every year.
    """
    zone = time_zone(name)
    if zone is None:
        return [(_seconds(datetime.min.replace(tzinfo=timezone.utc)), 0)]
    last = _seconds(_LAST)
    changes = [_seconds(_JAVA_FIRST), *_changes(zone)]
    if changes[-1] < last - _YEARS:
        last = _seconds(datetime.max.replace(tzinfo=timezone.utc)) - _DAY
    found: list[tuple[int, int | None]] = []
    for at in changes:
        minutes, rest = divmod(_offset_at(at + _SETTLED, zone), _MINUTE)
        found += [(at, None), (at + _SETTLED, None if rest else minutes)]
    return [*found, (last, None)]


def _changes(zone: ZoneInfo) -> Iterator[int]:
    """Yield the seconds from which on the clocks of a zone have another offset."""
    each = range(_seconds(_JAVA_FIRST), _seconds(_LAST), _STEP)
    for (start, old), (end, new) in pairwise((at, _offset_at(at, zone)) for at in each):
        if new != old:
            yield _change(range(start, end), new, zone)


def _change(seconds: range, new: timedelta, zone: ZoneInfo) -> int:
    """Return the first second with a new offset; it is the one behind all if none of them has."""
    count = bisect_left(seconds, x=True, key=lambda at: _offset_at(at, zone) == new)
    return seconds.start + count


def _offset_at(seconds: int, zone: ZoneInfo) -> timedelta:
    return _offset((EPOCH + seconds * _SECOND).astimezone(zone))


def _seconds(time: datetime) -> int:
    return (time - EPOCH) // _SECOND
