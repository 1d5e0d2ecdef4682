"""Messages of each source as DataFrames, and rows as they are compared."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from tests.runtime.changes import dataworks, lindorm

import changewire as cw
import changewire.spark as cws

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

HEAD = (
    '{"msg": "write", "key": ["n", "t", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", null], "gen": 1, "exp": 0'
)
AT = datetime(2021, 5, 8, 1, 2, 3, 456000, timezone.utc)
AT_MS = 1620435723456

NOON = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)
JAVA_TIMES: dict[str, datetime | None] = {"2024-01-01T12:00Z": NOON}
"""Other texts of times that columns take, as Java writes them."""

DATE_TIMES: dict[str, datetime | None] = {
    "2024-01-01T12:00:00Z": NOON,
    "2024-01-01t12:00:00z": NOON,
    "2024-01-01T17:30:00+05:30": NOON,
    "2024-01-01T12:00:00-00:00": NOON,
    "2024-01-01T12:00:00.5Z": NOON.replace(microsecond=500_000),
    "2024-01-01T12:00:00.123456Z": NOON.replace(microsecond=123_456),
    "2024-01-01T12:00:00.123456000Z": NOON.replace(microsecond=123_456),
    "2024-01-01T12:00:00.123456789Z": None,  # a timestamp has microseconds
    "2024-01-01T12:00:00": None,
    "2024-01-01T17:30:00+0530": None,
    "2024-01-01T17:30:00+05": None,
    "2024-01-01T12:00:00+24:00": None,
    "2024-01-01 12:00:00Z": None,
    "2024-01-01T12:00Z": None,
    "2024-01-01T12:00:00,5Z": None,
    "2024-01-01T12:00:00.Z": None,
    "2024-01-01T12:00:60Z": None,  # no datetime has a leap second
    "2024-01-01T24:00:00Z": None,
    "2024-02-30T12:00:00Z": None,
    "0001-01-01T00:00:00+01:00": None,  # before the year 1, in UTC
    "12024-01-01T12:00:00Z": None,
    "20240101T120000Z": None,
    "2024-01-01T12:00:00Z\n": None,
    "2024-01-01": None,
    "": None,
}
"""What texts of ``"format": "date-time"`` mean in JSON Schema (RFC 3339); None for no time."""


def frame(spark: SparkSession, *messages: bytes) -> DataFrame:
    """Return messages as a DataFrame."""
    return spark.createDataFrame([(message,) for message in messages], "value binary")


def rows_after(decoded: cws.DecodedFrames) -> list[Row]:
    """Return the rows after all changes."""
    return [row["after"] for row in decoded.changes.select("after").collect()]


def plain(row: Row) -> dict[str, Any]:
    """Return a row with times in UTC, as Spark collects them in the zone of this machine."""
    return {
        name: value.astimezone(timezone.utc) if isinstance(value, datetime) else value
        for name, value in row.asDict(recursive=True).items()
    }


def aerospike(*bins: tuple[str, str, Any]) -> bytes:
    """Return a write of some bins: name, type and value."""
    listed = [{"name": n, "type": t, "value": v} for n, t, v in bins]
    return f'{HEAD}, "lut": 1, "bins": {json.dumps(listed)}}}'.encode()


def dataworks_insert(types: Any, **row: Any) -> bytes:
    """Return an insert of a row with declared types."""
    return cw.encode(dataworks.message("INSERT", types, after=row))


def lindorm_insert(schema: Any, **row: Any) -> bytes:
    """Return an insert of a row under a schema."""
    return cw.encode(lindorm.message("c", schema, after=row))
