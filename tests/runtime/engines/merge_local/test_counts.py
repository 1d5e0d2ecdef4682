"""What a run without Spark says that it did not apply, and what it rounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake

ROUNDED = "12345678901234567.89"
SCHEMA = json.dumps(json.loads(message("INSERT", 1, None))["schema"])
"""The schema that the messages declare."""


def test_truncates_and_statements_are_told(tmp_path: Path) -> None:
    """A truncate that is not applied, and a statement without its rows, are counted."""
    recorded = [
        message("INSERT", 1, {"id": 1}),
        message("TRUNCATE", 2, None),
        message("QUERY", 3, None),
        message("QUERY", 4, None),
    ]
    outcome = Lake(tmp_path / "a").apply_records(records(*recorded))
    left = {"truncates_not_applied": 1, "statements_without_rows": 2}
    assert outcome.tables == {"inserted": 1, **left}
    lake = Lake(tmp_path / "b")
    outcome = lake.apply_records(records(*recorded), apply_truncates=True)
    assert outcome.tables == {"statements_without_rows": 2}
    assert lake.rows() == []
    again = lake.apply_records(records(*recorded), apply_truncates=True)
    assert (again.tables, again.already_in_log) == ({}, 4)


def test_images_of_one_update_are_told_apart(tmp_path: Path) -> None:
    """An update that came as two messages is one update and one before image."""
    lake = Lake(tmp_path)
    recorded = [
        message("INSERT", 1, {"id": 1}),
        message("UPDATE_BEFOR", 2, None, before={"id": 1}),
        message("UPDATE_AFTER", 2, {"id": 2}),
        message("UPDATE_BEFOR", 3, None, before={"id": 2}),
    ]
    outcome = lake.apply_records(records(*recorded))
    operations = {"insert": 1, "update": 1, "update (before image)": 2}
    assert outcome.counts.by_operation == operations
    assert outcome.tables == {"inserted": 1, "waiting_before_images": 1}
    assert [*lake.json_rows()] == [2]


@pytest.mark.parametrize("rows", ["embedded", SCHEMA, {"d.t": "embedded", "*": SCHEMA}])
def test_a_number_that_a_double_rounds_is_counted(tmp_path: Path, rows: Any) -> None:
    """Each rounding is in the counts of the run."""
    lake = Lake(tmp_path)
    recorded = message("INSERT", 1, {"id": 1, "price": ROUNDED})
    exact = message("INSERT", 2, {"id": 2, "price": "1.5"})
    outcome = lake.apply_records(records(recorded, exact), row_schema=rows)
    assert outcome.tables == {"inserted": 2, "rounded_numbers": 1}
    assert sorted(row["price"] for row in lake.rows()) == [1.5, float(ROUNDED)]


@pytest.mark.parametrize("rows", ["embedded", SCHEMA, {"d.t": "embedded", "*": SCHEMA}])
def test_a_number_that_a_double_rounds_is_refused(tmp_path: Path, rows: Any) -> None:
    """With `numbers="refuse"` its change is refused, and stays whole in the log."""
    lake = Lake(tmp_path)
    recorded = message("INSERT", 1, {"id": 1, "price": ROUNDED})
    exact = message("INSERT", 2, {"id": 2, "price": "1.5"})
    outcome = lake.apply_records(records(recorded, exact), row_schema=rows, numbers="refuse")
    assert outcome.tables == {"inserted": 1, "refused": 1}
    assert [row["price"] for row in lake.rows()] == [1.5]
    of_first = {row["kind"]: row for row in lake.log() if row["offset"] == 0}
    assert json.loads(of_first["change"]["after"])["price"] == ROUNDED
    why = of_first["refused"]
    assert (why["code"], why["pointer"]) == ("rounded-number", "/after/price")
