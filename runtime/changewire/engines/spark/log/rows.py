"""Decoded rows as rows of a log."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.layout import DEAD_LETTER
from changewire.engines.log import ATTEMPT, LOG_COLUMNS, MESSAGE_LOG_COLUMNS, REFUSED
from changewire.engines.spark.parts import quoted
from changewire.tables.routing import Refusal
from changewire.version import VERSION


def log_rows(rows: DataFrame, attempt: Column | None = None) -> DataFrame:
    """Return decoded rows with the columns of a log; by default they were never replayed."""
    is_dead = F.col("kind") == DEAD_LETTER
    added = {"version": F.when(is_dead, VERSION), ATTEMPT: F.lit(0) if attempt is None else attempt}
    columns = MESSAGE_LOG_COLUMNS if "content" in rows.columns else LOG_COLUMNS
    return rows.withColumns(added).select(*map(quoted, columns))


def refused_rows(
    rows: DataFrame, why: Column, format: str, attempt: Column | None = None
) -> DataFrame:
    """Return the rows that say why changes are refused, by the `Refusal` of each as a struct."""
    reason = {name: why[name] for name in Refusal._fields}
    # `Refusal.text` says the same.
    text = F.concat_ws(": ", reason["code"], reason["pointer"], reason["message"])
    marked = {"kind": F.lit(REFUSED), "format": F.lit(format), **reason, "message": text}
    return log_rows(rows.withColumns(marked), attempt)
