"""Dates of DataWorks messages in the time zone of the task that sent them."""

from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes.dataworks import change

from changewire.changes.clocks import on_the_clock, time_zone

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
ZONES = ("Asia/Shanghai", "America/Sao_Paulo", "Asia/Kolkata", "Europe/London", "Pacific/Apia")


def read(value: int, zone: str) -> tuple[Any, list[str]]:
    """Return the value of a DATE column, and the leniencies that it needed."""
    found = change("INSERT", types={"a": "DATE"}, after={"a": value}, time_zone=zone)
    assert found.after is not None
    return found.after["a"], found.attributes.get("leniencies", [])


@pytest.mark.parametrize(
    ("zone", "day", "milliseconds"),
    [
        ("Asia/Shanghai", "1582-10-15", -12219321600000),
        ("Asia/Shanghai", "1900-01-01", -2209017600000),
        ("Asia/Shanghai", "1900-01-02", -2208931543000),
        ("Asia/Shanghai", "1901-01-01", -2177481600000),
        ("Asia/Shanghai", "1988-04-10", 576604800000),
        ("Asia/Shanghai", "2024-11-15", 1731600000000),
        ("America/Sao_Paulo", "1800-01-01", -5364651600000),
        ("America/Sao_Paulo", "1900-01-01", -2208977612000),
        ("America/Sao_Paulo", "1990-10-21", 656478000000),
        ("Asia/Kolkata", "1900-01-01", -2209008600000),
        ("Asia/Kolkata", "1910-01-01", -1893475800000),
        ("Europe/London", "1988-04-10", 576630000000),
        ("America/New_York", "1800-01-01", -5364644400000),
    ],
)
def test_days_are_those_that_java_meant(zone: str, day: str, milliseconds: int) -> None:
    """`java.sql.Date.valueOf(day).getTime()` in a zone is midnight of that day on its clock.

    In Sao Paulo the clock went from midnight to 1 on 1990-10-21; Java knows no local mean time
    before 1900.
    """
    found, _ = read(milliseconds, zone)
    assert found.replace(tzinfo=None).isoformat() == f"{day}T00:00:00"


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC"])
def test_the_default_is_utc(zone: str) -> None:
    """In UTC a date is the time that it is without the option."""
    found = change("INSERT", types={"a": "DATE"}, after={"a": 1731600000000})
    time = datetime(2024, 11, 14, 16, tzinfo=timezone.utc)
    assert found.after == {"a": time}
    value, used = read(1731600000000, zone)
    assert (str(value), used) == (str(time), [])


@given(
    time=st.datetimes(datetime(1970, 1, 1), datetime(2037, 1, 1), timezones=st.just(timezone.utc)),  # noqa: DTZ001
    zone=st.sampled_from(ZONES),
)
def test_a_time_stays_the_same_time(time: datetime, zone: str) -> None:
    """Only the offset is another one: that of the zone, or the one before a skipped midnight."""
    used: list[str] = []
    found = on_the_clock(time, ZoneInfo(zone), used)
    assert (found, used) == (time, [])
    local = time.astimezone(ZoneInfo(zone))
    assert found.utcoffset() == local.utcoffset() or found.time() == datetime.min.time()


def test_an_hour_that_comes_twice() -> None:
    """When clocks go back, the offset tells the two hours apart."""
    first = datetime(2024, 10, 27, 0, 30, tzinfo=timezone.utc)
    times = [
        on_the_clock(first + timedelta(hours=n), ZoneInfo("Europe/London"), []) for n in (0, 1)
    ]
    assert [time.isoformat() for time in times] == [
        "2024-10-27T01:30:00+01:00",
        "2024-10-27T01:30:00+00:00",
    ]


def test_offsets_with_seconds_are_rounded_and_counted() -> None:
    """JSON has offsets of minutes: the clock is kept, 17 seconds of the offset are not."""
    found, used = read(-2208931543000, "Asia/Shanghai")
    assert (found.isoformat(), used) == ("1900-01-02T00:00:00+08:06", ["rounded-offset"])


@pytest.mark.parametrize(
    ("zone", "value"), [("America/New_York", -62135596800000), ("Asia/Tokyo", 253402300799999)]
)
def test_clocks_that_python_does_not_have(zone: str, value: int) -> None:
    """A time whose clock shows a year before 1 or after 9999 stays a number, and is counted."""
    assert read(value, zone) == (value, ["time-out-of-range"])
    assert type(read(value, "UTC")[0]) is datetime


def test_both_rows_and_keys_have_the_clock() -> None:
    """Dates of the row before and of the key have the same clock."""
    given: Any = {"types": {"d": "DATE"}, "primary_key": ["d"], "time_zone": "Asia/Shanghai"}
    found = change("UPDATE_AFTER", before={"d": 0}, after={"d": 1731600000000}, **given)
    assert found.before is not None
    assert found.key is not None
    assert found.before["d"].isoformat() == "1970-01-01T08:00:00+08:00"
    assert found.key["d"].date() == date(2024, 11, 15)


def test_zones_are_read_once() -> None:
    """A zone is the same object each time."""
    assert time_zone("Asia/Tokyo") is time_zone("Asia/Tokyo")
    assert time_zone("UTC") is None
