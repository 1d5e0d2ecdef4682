"""Counts by hour, in steps that fit a chart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changewire.report.hours import STEPS, series


@pytest.mark.parametrize(
    ("last", "unit", "steps"),
    [
        ("2026-01-01 02:00", "hour", 3),
        ("2026-01-31 00:00", "day", 31),
        ("2027-12-31 23:00", "month", 24),
        ("2086-06-01 00:00", "year", 61),
    ],
)
def test_the_smallest_unit_that_fits(last: str, unit: str, steps: int) -> None:
    """The longer the time, the longer a step; steps without a count are there."""
    found = series({"2026-01-01 00:00": 1, last: 2})
    assert (found.unit, len(found.steps)) == (unit, steps)
    assert (found.steps[0][1], found.steps[-1][1]) == (1, 2)


def test_labels_are_dates() -> None:
    """A step is labelled by where it begins."""
    assert [s[0] for s in series({"2026-01-01 23:00": 1, "2026-01-02 00:00": 1}).steps] == [
        "2026-01-01 23:00",
        "2026-01-02 00:00",
    ]
    assert series({"2026-01-31 23:00": 1, "2026-06-02 00:00": 1}).steps[0][0] == "2026-01"


def test_what_has_no_time_is_told_apart() -> None:
    """Changes without a time are in no step."""
    found = series({"(no time)": 3, "2026-01-01 00:00": 1})
    assert (found.without_time, found.steps) == (3, [("2026-01-01 00:00", 1)])
    assert series({"(no time)": 3}).steps == []


def test_strays_do_not_flatten_the_rest() -> None:
    """One time of a thousand that lies years away is left outside, and counted there."""
    times = {f"2026-01-01 {hour:02}:00": 100 for hour in range(10)}
    found = series({"1970-01-01 00:00": 1, **times, "2106-02-07 06:00": 2})
    assert (found.unit, len(found.steps), found.outside) == ("hour", 10, 3)


def test_a_second_time_is_no_stray() -> None:
    """Where much lies apart, all of it is shown."""
    found = series({"2020-01-01 00:00": 10, "2026-01-01 00:00": 90})
    assert (found.unit, found.outside, found.steps[0][1]) == ("year", 0, 10)


@given(st.dictionaries(st.datetimes(), st.integers(1, 9)))
def test_no_time_makes_a_chart_too_wide(times: dict[object, int]) -> None:
    """Whatever the times, there are at most so many steps, and below it no count is lost."""
    by_hour: dict[str, int] = {}
    for time, count in times.items():
        name = f"{str(time)[:13]}:00"
        by_hour[name] = by_hour.get(name, 0) + count
    found = series(by_hour)
    assert len(found.steps) <= STEPS
    if len(times) <= STEPS:
        assert sum(count for _, count in found.steps) + found.outside == sum(by_hour.values())
