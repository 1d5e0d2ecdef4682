"""Counts by hour, brought to as many steps of time as a chart has room for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final, NamedTuple

STEPS: Final = 62
"""Steps of a chart at most; two months of days fit."""

_HOUR = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d):00")
_HOURS_A_DAY: Final = 24
_MONTHS_A_YEAR: Final = 12


class Series(NamedTuple):
    """Counts along time.

    Attributes:
        unit: Length of a step: hour, day, month or year.
        steps: A label and the count of each step, in order.
        without_time: How many had no time.
    """

    unit: str
    steps: list[tuple[str, int]]
    without_time: int


def series(by_hour: Mapping[str, int]) -> Series:
    """Return counts by hour in the smallest unit that needs at most `STEPS` steps.

    Steps without a count are there too, with 0. Where even years are too many, those without a
    count are left out, and so are the earliest.
    """
    hours = {name: found for name in by_hour if (found := _HOUR.fullmatch(name))}
    without_time = sum(count for name, count in by_hour.items() if name not in hours)
    unit, counts = "hour", Counter[int]()
    for unit, (number_of, label_of) in _UNITS.items():
        counts = Counter[int]()
        for name, (day, hour) in ((name, found.groups()) for name, found in hours.items()):
            counts[number_of(date.fromisoformat(day), int(hour))] += by_hour[name]
        if counts and max(counts) - min(counts) < STEPS:
            steps = range(min(counts), max(counts) + 1)
            return Series(unit, [(label_of(step), counts[step]) for step in steps], without_time)
    latest = sorted(counts)[-STEPS:]
    return Series(unit, [(str(year), counts[year]) for year in latest], without_time)


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
