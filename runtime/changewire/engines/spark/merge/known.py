"""What a query knows of its log, read by one job."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.known import KnownLog
from changewire.engines.log import REFUSED
from changewire.engines.spark.log.place import schema_of
from changewire.engines.spark.merge.from_log import is_change, is_truncate, source_columns
from changewire.engines.spark.merge.summary import facts_columns, facts_of
from changewire.tables.mutations import WRITES
from changewire.tables.routing import WRITE, Routing

_UNROUTED: Final = ("name-collision", "table-missing", "too-many-tables")
"""Codes of changes that found no table."""


def known_log(
    log: DataFrame | None, routing: Routing, *, with_truncates: bool, sink: str
) -> KnownLog:
    """Return what a log has, by one job; nothing if there is not a log.

    Args:
        log: Rows of the log.
        routing: How sources find their targets.
        with_truncates: Whether truncates are applied.
        sink: Format of the tables.
    """
    if log is None:
        return KnownLog(routing, {})
    op = F.when(F.col("op").isin(*WRITES), WRITE).otherwise(F.col("op")).alias("op")
    is_unrouted = (F.col("kind") == REFUSED) & F.col("code").isin(*_UNROUTED)
    chosen = is_change() | is_unrouted
    chosen = chosen | is_truncate() if with_truncates else chosen
    sums = {
        **facts_columns(),
        "landed": F.count_if(is_change() | is_truncate()),
        "unrouted": F.count_if(is_unrouted),
    }
    # The operation that is grouped by is not the column that the aggregations read.
    grouped = log.where(chosen).groupBy(*source_columns(), op)
    found = grouped.agg(*(column.alias(name) for name, column in sums.items()))
    # A source of which all changes were refused has no table.
    facts = facts_of(found.where("landed > unrouted").collect())
    spark = log.sparkSession
    return KnownLog(routing, facts, lambda one: schema_of(spark, sink, one.name) is not None)
