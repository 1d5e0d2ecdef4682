"""The counts of a run, and the law that they obey."""

from __future__ import annotations

from typing import Any

import pytest

from changewire.changes.sources import NO_TABLE
from changewire.engines.counts import (
    NO_TIME,
    OTHER_HOURS,
    OTHER_TABLES,
    ConservationError,
    Counts,
    MessageCounts,
)


def group(kind: str | None = "change", **values: Any) -> dict[str, Any]:
    """Return a group of one row."""
    defaults = {
        "op": "upsert",
        "database": "d",
        "schema": None,
        "table": "t",
        "hour": 0,
        "code": None,
    }
    return {"kind": kind, **defaults, "rows": 1, "messages": 1, "elements": 1, **values}


def counted(*groups: dict[str, Any]) -> Counts:
    """Return checked counts of groups."""
    counts = Counts()
    for item in groups:
        counts.add(item)
    return counts.checked()


def test_elements_are_changes_controls_and_dead_letters() -> None:
    """The three kinds add up to the elements."""
    counts = counted(group(), group("control", op="empty"), group("dead_letter", code="truncated"))
    assert counts.elements == counts.changes + counts.controls + counts.dead_letters == 3


@pytest.mark.parametrize(
    "wrong", [group(rows=2), group(elements=2), group("lost"), group(kind=None)]
)
def test_a_lost_or_doubled_element_is_refused(wrong: dict[str, Any]) -> None:
    """Counts that do not add up stop the run."""
    with pytest.raises(ConservationError, match="the messages have"):
        counted(group(), wrong)


def test_tables_are_named_by_their_parts() -> None:
    """A table is named by database, schema and table; an event of no table says so."""
    counts = counted(group(schema="s"), group(database=None, table=None))
    assert counts.as_dict()["by_table"] == {NO_TABLE: 1, "d.s.t": 1}


def test_hours_are_in_utc_and_in_order() -> None:
    """Event times are counted by the hour, those without time apart."""
    counts = counted(group(hour=448_000), group(hour=1), group(hour=None))
    assert counts.as_dict()["by_hour"] == {
        NO_TIME: 1,
        "1970-01-01 01:00": 1,
        "2021-02-08 16:00": 1,
    }


def test_the_number_of_tables_in_a_report_is_bounded() -> None:
    """A stream with very many tables gives a bounded report that still adds up."""
    counts = counted(*(group(table=f"t{i}") for i in range(1500)))
    tables = counts.as_dict()["by_table"]
    assert len(tables) == 1001
    assert sum(tables.values()) == 1500
    assert tables[OTHER_TABLES] == 500


def test_the_number_of_hours_in_a_report_is_bounded() -> None:
    """So is the number of hours."""
    hours = counted(*(group(hour=i) for i in range(1500))).as_dict()["by_hour"]
    assert (len(hours), sum(hours.values()), hours[OTHER_HOURS]) == (1001, 1500, 500)


def test_elements_of_messages_are_valid_or_dead_letters() -> None:
    """Messages are counted by variant, and batches add up; a change among them is an error."""
    total = MessageCounts()
    for variant in ("Insert", None, "Insert"):
        batch = MessageCounts()
        batch.add(group("message", variant=variant))
        batch.add(group("dead_letter", code="truncated"))
        total.add_all(batch.checked())
    assert (total.elements, total.valid, total.dead_letters, total.changes) == (6, 3, 3, 0)
    assert total.by_variant == {"Insert": 2, "(no value)": 1}
    lost = MessageCounts()
    lost.add(group("message", variant="Insert", elements=2))
    with pytest.raises(ConservationError, match="2 elements, decoded were 1: 1 valid, 0 dead"):
        lost.checked()
    lost.add(group("change", variant="Insert", elements=0))
    with pytest.raises(ConservationError, match="decoded were 2: 1 valid, 0 dead letters"):
        lost.checked()
