"""Dates of DataWorks messages in time zones, with the kernel beside Python."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from zoneinfo import available_timezones

import pytest
from tests.native.differential import batch_of, compare, needs_kernel

from changewire.changes.clocks import offsets_of
from changewire.changes.decode_options import DecodeOptions

pytestmark = needs_kernel

DAY = 24 * 60 * 60
CHANGING = (
    *("Africa/Casablanca", "America/Recife", "America/Sao_Paulo", "Asia/Gaza"),
    *("Asia/Shanghai", "Atlantic/Azores", "Australia/Lord_Howe", "Europe/London"),
    *("Pacific/Apia", "Pacific/Kwajalein"),
)
"""Zones with short or long gaps, skipped midnights and days, half hours, and UTC for a while."""


def messages(milliseconds: Iterable[int]) -> list[bytes]:
    """Return messages with a date in a column and in the key."""
    columns = [{"name": name, "type": "DATE"} for name in ("d", "e")]
    source = {"dbName": "s", "tableName": "t"}
    schema = {"dataColumn": columns, "primaryKey": ["d"], "source": source}
    rows = [{"dataColumn": {"d": at, "e": -at}} for at in milliseconds]
    others = {"op": "INSERT", "before": None, "sequenceId": "1", "timestamp": {"eventTime": 1}}
    payloads = [{**others, "after": row, "ddl": None} for row in rows]
    return [
        json.dumps({"schema": schema, "payload": one, "version": "0.0.1"}).encode()
        for one in payloads
    ]


def around(zone: str, draw: random.Random) -> list[int]:
    """Return milliseconds at, before and after the changes of a zone's clocks, and any others."""
    near = (0, -1, 1, 999, 3_600_000, 1_800_000, DAY * 500, DAY * 1_000, DAY * 2_000 - 1)
    edges = [at for at, _ in offsets_of(zone)]
    some = draw.sample(edges, min(len(edges), 40))
    found = [at * 1_000 + draw.choice((-1, 1)) * by for at in some for by in near]
    others = [draw.randrange(-80 * 365 * DAY, 150 * 365 * DAY) * 1_000 for _ in range(100)]
    return [*found, *others, 253402300799999, 253402214400000, -62135596800000, 2**63 - 1]


@pytest.mark.parametrize("zone", [*CHANGING, "Etc/UTC", "UTC", None])
def test_dates_have_the_clocks_of_their_zone(zone: str | None) -> None:
    """Around each change of the clocks the kernel says what Python says, or leaves it to Python."""
    draw = random.Random(zone or "")  # noqa: S311 - no secret
    times = around(zone or "Asia/Shanghai", draw)
    found = compare(batch_of(messages(times)), DecodeOptions("dataworks-json", time_zone=zone))
    assert found.share > 0.1


def test_clocks_of_any_zone() -> None:
    """So it is for zones that are drawn from all."""
    draw = random.Random(7)  # noqa: S311 - no secret
    for zone in draw.sample(sorted(available_timezones()), 12):
        times = around(zone, draw)
        compare(batch_of(messages(times)), DecodeOptions("dataworks-json", time_zone=zone))


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo", "Etc/UTC"])
def test_dates_of_today_are_read_by_the_kernel(zone: str) -> None:
    """Where clocks do not change any more, Python reads no date of these years."""
    times = [at * DAY * 1_000 for at in range(12_000, 30_000, 97)]
    values = [one.replace(b'"e": -', b'"e": ') for one in messages(times)]
    found = compare(batch_of(values), DecodeOptions("dataworks-json", time_zone=zone))
    assert found.declined == 0
