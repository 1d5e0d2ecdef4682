"""Rows of tables by a log: the newest change of each key."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import newest
from changewire.engines.spark.merge.facts import truncates_in
from changewire.engines.spark.merge.from_log import is_truncate
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.mutations import CONTENT, NAMED
from changewire.engines.spark.merge.shapes import JsonShape
from changewire.engines.spark.merge.table_log import TableLog
from changewire.engines.spark.parts import table_name
from changewire.tables.mutations import DELETE
from changewire.tables.order import OLDEST


def current(
    spark: SparkSession,
    log: str,
    *,
    table: str,
    table_format: str = "delta",
    where: str | None = None,
    apply_truncates: bool = False,
) -> DataFrame:
    """Return the newest version of each row of a table, from its log.

    It is what `apply_changes` leaves in the table, computed from the log alone.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        table: Name of the source: its database, schema and table, as far as it has them, joined by
            dots.
        table_format: Format of the log.
        where: Condition in SQL on rows of the log, such as ``"timestamp < '2026-07-01'"``.
        apply_truncates: Whether truncates remove rows.

    Returns:
        ``key`` and ``row``, both JSON text, and ``_changewire``, as in a table of JSON text.
    """
    rows = LogPlace(log, table_format).read(spark)
    rows = rows if where is None else rows.where(where)
    mine, floor = rows.where(is_named(table)), OLDEST
    if apply_truncates:
        truncates = truncates_in(newest(mine.where(is_truncate()), rows))
        floor = max(truncates.values(), default=OLDEST)
    shape, logged = JsonShape(), TableLog(mine, rows, floor=floor)
    found = logged.rows(logged.effects(shape), shape)
    named, state = F.col(NAMED), F.col(STATE)
    columns = (named["key"].alias("key"), F.col(CONTENT).alias("row"), state.alias("_changewire"))
    return found.where(~state["deleted"]).select(*columns)


def is_named(table: str) -> Any:
    """Return the condition that a row of a log is of a source, by its dotted name.

    A delete that names no table is of all tables of its database.
    """
    source, named = F.col("source"), table_name()
    is_above = F.startswith(F.lit(table), F.concat(named, F.lit(".")))
    is_for_all = (F.col("op") == DELETE) & source["table"].isNull() & is_above
    return (named == table) | is_for_all
