"""Tombstones that are not needed any more."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import SparkSession

from changewire.engines.kept import SUFFIX
from changewire.engines.spark.apply.formats import format_of
from changewire.tables.names import beside


def vacuum(spark: SparkSession, target: str, *, older_than: datetime, sink: str = "delta") -> int:
    """Remove the tombstones of a table; return how many.

    What is older than a delete and comes after its tombstone was removed brings the row back.

    Args:
        spark: The session.
        target: The table: a path (it has a slash), or its name.
        older_than: Tombstones that were written before it go; it has a time zone.
        sink: Table format.

    Raises:
        ValueError: The time has no zone, or there is no such table format.
    """
    if older_than.tzinfo is None:
        raise ValueError("older_than has no time zone")
    graves = format_of(sink).identifier(beside(target, SUFFIX))
    condition = f"since < timestamp '{older_than.isoformat()}'"
    removed = spark.table(graves).where(condition).count()
    spark.sql(f"DELETE FROM {graves} WHERE {condition}")  # noqa: S608 - quoted
    return removed
