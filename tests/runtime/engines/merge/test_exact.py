"""Patches of values that Spark shortens, or that Python does not have in the session's zone."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable
from pyspark.sql.types import DoubleType, StringType, StructField, StructType, TimestampType
from tests.runtime.engines.merge.lake import Lake, one_by_one
from tests.runtime.engines.merge.messages import message, records

import changewire.spark as cws
from changewire.engines.spark.session import changed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"id": "STRING", "at": "STRING", "n": "DOUBLE", "w": "STRING"}
ROW = StructType(
    [
        StructField("id", TimestampType()),
        StructField("at", TimestampType()),
        StructField("n", DoubleType()),
        StructField("w", StringType()),
    ]
)
LONG = 10**1001
"""Spark reads no number of more than 1,000 digits in JSON text."""

LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)
"""Is in the year 10000 in Shanghai."""


def micro(number: int) -> datetime:
    """Return a time of so many microseconds."""
    return datetime(2026, 1, 2, 3, 4, 5, number, tzinfo=timezone.utc)


def patch(sequence: int, number: int, **columns: Any) -> bytes:
    """Return a message that sets some columns of a row."""
    return message(
        "UPDATE_AFTER", sequence, {"id": micro(number).isoformat(), **columns}, types=TYPES
    )


def test_patches_are_exact_in_any_zone(spark: SparkSession, tmp_path: Path) -> None:
    """Keys that differ by a microsecond name two rows, and `verify` sees as much of a value."""
    lake = Lake(tmp_path)
    first = patch(1, 1, at=LAST.isoformat(), w="a"), patch(1, 2, w="b")
    later = patch(2, 1, n=LONG, w="c"), patch(2, 2, at=micro(3).isoformat())
    lake.send_records(records(*first))
    lake.send_records(records(*later, start=2))
    with changed(spark, {"spark.sql.session.timeZone": "Asia/Shanghai"}), one_by_one("delta"):
        lake.apply_messages(
            spark, format="dataworks-json", row_schema=ROW, row_image="patch", misfits="rescue"
        )
    table = DeltaTable(str(lake.tables / "t"))
    rows = sorted(table.to_pyarrow_table().to_pylist(), key=lambda row: row["id"])
    assert [(*(row[name] for name in TYPES), row["_changewire"]["rescued"]) for row in rows] == [
        (micro(1), LAST, None, "c", f'{{"n":{LONG}}}'),
        (micro(2), micro(3), None, "b", None),
    ]
    places = {name: one for name, one in lake.places.items() if name != "checkpoint"}
    table.update(predicate="w = 'b'", new_values={"at": micro(4)})
    (fault,) = cws.verify(spark, **places).collect()
    assert (fault["fault"], fault["key"]) == ("different", f'{{"id":"{micro(2):%FT%T.%f}Z"}}')
