"""Counts by hour, brought to as many steps of time as a chart has room for."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final, NamedTuple, TypeAlias

STEPS: Final = 62
"""Steps of a chart at most; two months of days fit."""

STRAY: Final = 0.005
"""Share of all times, at either end, that may be left out of a chart."""

_Hours: TypeAlias = dict[tuple[date, int], int]
_HOUR = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d):00")
_HOURS_A_DAY: Final = 24
_MONTHS_A_YEAR: Final = 12


class Series(NamedTuple):
    """Counts along time.

    Attributes:
        unit: Length of a step: hour, day, month or year.
        steps: A label and the count of each step, in order.
        outside: How many lie before the first step or after the last.
        without_time: How many had no time.
    """

    unit: str
    steps: list[tuple[str, int]]
    outside: int
    without_time: int


def series(by_hour: Mapping[str, int]) -> Series:
    """Return counts by hour in the smallest unit that needs at most `STEPS` steps.

    Steps without a count are included, with 0. A few stray times are left outside if the others
    then show in a smaller unit. Where even years are too many, those without a count are left out,
    and the earliest are outside.
    """
    hours: dict[tuple[date, int], int] = {}
    for name, count in by_hour.items():
        if found := _HOUR.fullmatch(name):
            hours[date.fromisoformat(found[1]), int(found[2])] = count
    total = sum(hours.values())
    whole, most = _steps(hours), _steps(_without_strays(hours, total))
    unit, steps = most if _ORDER.index(most[0]) < _ORDER.index(whole[0]) else whole
    outside = total - sum(count for _, count in steps)
    return Series(unit, steps, outside, sum(by_hour.values()) - total)


def _without_strays(hours: _Hours, total: int) -> _Hours:
    """Return the counts without the first and last few of all."""
    kept: _Hours = {}
    seen = 0
    for hour, count in sorted(hours.items()):
        if seen + count > total * STRAY and seen < total * (1 - STRAY):
            kept[hour] = count
        seen += count
    return kept


def _steps(hours: _Hours) -> tuple[str, list[tuple[str, int]]]:
    """Return the unit, and the label and count of each step."""
    unit, counts = "hour", Counter[int]()
    for unit, (number_of, label_of) in _UNITS.items():
        counts = Counter[int]()
        for (day, hour), count in hours.items():
            counts[number_of(day, hour)] += count
        if not counts:
            return unit, []
        if max(counts) - min(counts) < STEPS:
            steps = range(min(counts), max(counts) + 1)
            return unit, [(label_of(step), counts[step]) for step in steps]
    return unit, [(str(year), counts[year]) for year in sorted(counts)[-STEPS:]]


def _hour(day: date, hour: int) -> int:
    return day.toordinal() * _HOURS_A_DAY + hour


def _hour_label(step: int) -> str:
    day, hour = divmod(step, _HOURS_A_DAY)
    return f"{date.fromordinal(day)} {hour:02}:00"


def _month(day: date, _: int) -> int:
    return day.year * _MONTHS_A_YEAR + day.month - 1


def _month_label(step: int) -> str:
    year, month = divmod(step, _MONTHS_A_YEAR)
    return f"{year:04}-{month + 1:02}"


_UNITS: Final[Mapping[str, tuple[Callable[[date, int], int], Callable[[int], str]]]] = {
    "hour": (_hour, _hour_label),
    "day": (lambda day, _: day.toordinal(), lambda step: str(date.fromordinal(step))),
    "month": (_month, _month_label),
    "year": (lambda day, _: day.year, str),
}
"""For each unit the number of the step that an hour lies in, and the label of a step."""

_ORDER: Final = tuple(_UNITS)
