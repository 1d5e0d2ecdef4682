"""Rows of a log: what decoded rows are in it, and which of its rows no later one has closed."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, MESSAGE
from changewire.engines.log import (
    ATTEMPT,
    ELEMENT_PLACE,
    HELD,
    LOG_COLUMNS,
    MESSAGE_LOG_COLUMNS,
    REFUSED,
)
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.parts import quoted
from changewire.tables.routing import Refusal
from changewire.version import VERSION

IS_LATER: Final = f"other.{ATTEMPT} > row.{ATTEMPT}"
"""Condition of `without`: the other row is of a later replay."""

_HAS_POSITION: Final = "({0}offset IS NOT NULL OR {0}number IS NOT NULL)"
_IS_KNOWN: Final = (
    f"other.kind <> '{DEAD_LETTER}' OR (row.kind = '{DEAD_LETTER}' AND row.value <=> other.value)"
)


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


def dead_letters(spark: SparkSession, log: str, *, table_format: str = "delta") -> DataFrame:
    """Return the dead letters of a log that were not replayed, with reasons and original bytes.

    A replay that decodes a dead letter appends a row with the same position, which closes it.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        table_format: Format of the log.

    Returns:
        Rows of the log.
    """
    return open_letters(LogPlace(log, table_format).read(spark))


def refused(spark: SparkSession, log: str, *, table_format: str = "delta") -> DataFrame:
    """Return the changes of a log that no table took, with the reason of each.

    A replay that applies one appends a row with the same position, which closes it.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        table_format: Format of the log.

    Returns:
        Rows of the log.
    """
    return open_refusals(LogPlace(log, table_format).read(spark))


def open_letters(rows: DataFrame) -> DataFrame:
    """Return the open dead letters among the rows of a log.

    A message that could not be read has one dead letter, of its first element; any element that it
    turns out to have closes it.
    """
    newest = F.max_by(F.struct("*"), ATTEMPT).alias("newest")
    letters = rows.where(F.col("kind") == DEAD_LETTER).groupBy(*ELEMENT_PLACE).agg(newest)
    letters = letters.select("newest.*")
    return without(letters, rows.where(F.col("kind").isin(CHANGE, CONTROL, MESSAGE)))


def open_refusals(rows: DataFrame) -> DataFrame:
    """Return the open refusals among the rows of a log."""
    found = rows.where(F.col("kind") == REFUSED)
    again = rows.where(F.col("kind").isin(CHANGE, REFUSED) & (F.col(ATTEMPT) > 0))
    return without(found, again, IS_LATER).dropDuplicates([*ELEMENT_PLACE])


def without(rows: DataFrame, others: DataFrame, condition: str = "true") -> DataFrame:
    """Return the rows at whose place no other is, of those for which a condition is true."""
    other = others.select(*HELD).alias("other")
    return rows.alias("row").join(other, _at_one_place() & F.expr(condition), "left_anti")


def lacking(rows: DataFrame, log: DataFrame) -> DataFrame:
    """Return the rows that a log does not have, with their attempts.

    Elements without a position it never has; for others the rule is that of
    `changewire.engines.log.lacking`.
    """
    dead = log.where((F.col("kind") == DEAD_LETTER) & F.expr(_HAS_POSITION.format("")))
    later = (F.max(ATTEMPT) + 1).alias("later")
    attempts = dead.groupBy(*ELEMENT_PLACE).agg(later).alias("other")
    new = without(rows, log, _HAS_POSITION.format("row.") + f" AND ({_IS_KNOWN})")
    found = new.alias("row").join(attempts, _at_one_place(), "left")
    attempt = F.coalesce("other.later", f"row.{ATTEMPT}").alias(ATTEMPT)
    return found.select(*(attempt if n == ATTEMPT else F.col(f"row.{n}") for n in rows.columns))


def _at_one_place() -> Column:
    """Return the condition that `row` and `other` have the same place."""
    names = ((F.col(f"row.{name}"), F.col(f"other.{name}")) for name in ELEMENT_PLACE)
    return reduce(and_, (one.eqNullSafe(other) for one, other in names))
