"""Deleted rows that tables have kept with a flag, removed."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.merge.formats import format_of
from changewire.engines.spark.merge.from_log import deletes_something, is_change
from changewire.engines.spark.merge.mutations import PLACE
from changewire.engines.spark.merge.plan import NEEDED, check_columns
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.parts import position_columns
from changewire.tables.names import absolute
from changewire.tables.row_state import COLUMN

_IS_SAME: Final = " AND ".join(f"t.{COLUMN}.`{name}` <=> s.`{name}`" for name in PLACE)


def purge(
    spark: SparkSession, log: str, *, table: str, older_than: datetime, table_format: str = "delta"
) -> int | None:
    """Remove the rows of a table that are flagged as deleted, and were deleted before a time.

    A change that is older than such a delete and comes later brings its row back.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        table: Path or name of the table.
        older_than: The time, with a zone: that of the Kafka record of the delete, else that of the
            change.
        table_format: Format of log and table.

    Returns:
        How many rows were removed; None if the table format does not say it.

    Raises:
        ValueError: The time has no zone, or there is no such table format.
        OutputError: The table was not made by changewire.
    """
    if older_than.tzinfo is None:
        raise ValueError("older_than has no time zone")
    formats = format_of(table_format)
    one = SparkTable(absolute(table), formats)
    time = F.coalesce("timestamp", "event_time")
    old = LogPlace(log, table_format).read(spark).where(is_change() & deletes_something())
    places = old.where(time < F.lit(older_than)).select(*position_columns()).distinct()
    clauses = f"{_IS_SAME} WHEN MATCHED AND t.{COLUMN}.deleted THEN DELETE"
    formats.refresh(spark, one.target)
    check_columns(spark.table(one.identifier).schema, NEEDED, one.target)
    rows = formats.merged(one.run_merge(spark, places, clauses)).rows
    return None if rows is None else rows.get("deleted", 0)
