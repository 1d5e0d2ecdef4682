"""What a query knows of its log, read by one job."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.known import KnownLog
from changewire.engines.spark.merge.from_log import is_change, is_truncate, source_columns
from changewire.engines.spark.merge.summary import facts_columns, facts_of
from changewire.tables.mutations import WRITES
from changewire.tables.routing import WRITE, Routing


def known_log(log: DataFrame | None, routing: Routing, *, with_truncates: bool) -> KnownLog:
    """Return what a log has, by one job; nothing if there is no log."""
    if log is None:
        return KnownLog(routing, {})
    op = F.when(F.col("op").isin(*WRITES), WRITE).otherwise(F.col("op")).alias("op")
    chosen = is_change() | is_truncate() if with_truncates else is_change()
    sums = (column.alias(name) for name, column in facts_columns().items())
    # The operation that is grouped by is not the column that the aggregations read.
    found = log.where(chosen).groupBy(*source_columns(), op).agg(*sums)
    return KnownLog(routing, facts_of(found.collect()))
