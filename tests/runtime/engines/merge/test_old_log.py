"""Logs that were landed before logs said the effects of changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import message, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

A, B, C, D = ({"id": number, "name": "a"} for number in range(4))


@pytest.mark.parametrize("row_schema", ["json", "embedded"])
def test_late_changes_see_what_it_deleted(
    spark: SparkSession, tmp_path: Path, row_schema: Any
) -> None:
    """A late change brings no row back, and the second image of an update finds the first one."""
    lake, rows = Lake(tmp_path), {"format": "dataworks-json", "row_schema": row_schema}
    first = [
        message("INSERT", 1, A),
        message("DELETE", 10, A),
        message("INSERT", 2, B),
        message("UPDATE_BEFOR", 10, None, before=B),
        message("UPDATE_AFTER", 10, C),
        message("INSERT", 3, D),
        message("UPDATE_BEFOR", 20, None, before=D),
    ]
    late = [
        message("INSERT", 5, A),
        message("INSERT", 6, B),
        message("UPDATE_AFTER", 20, {**D, "id": 4}),
    ]
    lake.send_records(records(*first))
    lake.apply_messages(spark, **rows)
    DeltaTable(lake.places["log"]).update(updates={"effect": "NULL"})
    lake.send_records(records(*late, start=10))
    lake.apply_messages(spark, **rows)
    found = lake.table(spark, "t").where("NOT _changewire.deleted").toArrow()
    column, expected = ("key", ['{"id":2}', '{"id":4}']) if row_schema == "json" else ("id", [2, 4])
    assert sorted(found[column].to_pylist()) == expected
