"""Logs that were landed before logs said the effects of changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import message, records

from changewire.engines.log import ADDED
from changewire.engines.spark.log.place import completed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

A, B, C, D = ({"id": number, "name": "a"} for number in range(4))


def test_late_changes_see_what_it_deleted(spark: SparkSession, tmp_path: Path) -> None:
    """A late change brings no row back, and the second image of an update finds the first one."""
    lake, types = Lake(tmp_path), {"t": "json", "u": "embedded"}
    first: list[tuple[Any, ...]] = [
        ("INSERT", 1, A),
        ("DELETE", 10, A),
        ("INSERT", 2, B),
        ("UPDATE_BEFOR", 10, None, B),
        ("UPDATE_AFTER", 10, C),
        ("INSERT", 3, D),
        ("UPDATE_BEFOR", 20, None, D),
    ]
    late: list[tuple[Any, ...]] = [
        ("INSERT", 5, A),
        ("INSERT", 6, B),
        ("UPDATE_AFTER", 20, {**D, "id": 4}),
    ]
    for start, batch in ((0, first), (20, late)):
        sent = [
            message(*one[:3], before=one[3] if len(one) > 3 else None, table=table)
            for table in types
            for one in batch
        ]
        lake.send_records(records(*sent, start=start))
        lake.apply_messages(spark, format="dataworks-json", row_schema=types)
        DeltaTable(lake.places["log"]).update(updates={"effect": "NULL"})
    for table, column, expected in (("t", "key", ['{"id":2}', '{"id":4}']), ("u", "id", [2, 4])):
        rows = [row for row in lake.rows(spark, table) if not row["_changewire"]["deleted"]]
        assert sorted(row[column] for row in rows) == expected


def test_rows_that_lack_no_column_are_left_alone(spark: SparkSession) -> None:
    """Spark Connect fails if no column is added to rows."""
    rows = spark.createDataFrame([], ", ".join(f"{name} string" for name in ADDED))
    assert completed(rows) is rows
    assert completed(rows.select(ADDED[0])).columns == [*ADDED]
