"""Rows of a log in SQL: what decoded rows are in it, and which of its rows no later one has closed.

What functions of the same name do, `changewire.engines.log` and `changewire.engines.arrow.queries`
define.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER
from changewire.engines.log import (
    ATTEMPT,
    CLOSED,
    CLOSED_BY,
    ELEMENT_PLACE,
    HELD,
    LOG_COLUMNS,
    MESSAGE_LOG_COLUMNS,
    REFUSED,
    TARGET,
)
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.parts import has_name, quoted, table_name
from changewire.tables.chosen import chosen_tables
from changewire.tables.names import absolute
from changewire.tables.routing import Refusal
from changewire.version import VERSION

_IS_KNOWN: Final = (
    f"(other.kind NOT IN ('{DEAD_LETTER}', '{CLOSED}') AND {{has_key}}) "
    f"OR (row.kind = '{DEAD_LETTER}' AND row.value <=> other.value)"
)
_HAS_KEY: Final = f"(other.kind <> '{CHANGE}' OR other.key IS NOT NULL OR row.key IS NULL)"


def log_rows(rows: DataFrame, attempt: Column | None = None) -> DataFrame:
    """Return decoded rows with the columns of a log; by default they were never replayed."""
    is_dead = F.col("kind") == DEAD_LETTER
    added = {
        "version": F.when(is_dead, VERSION),
        ATTEMPT: F.lit(0) if attempt is None else attempt,
        TARGET: F.lit(None).cast("string"),
    }
    columns = MESSAGE_LOG_COLUMNS if "content" in rows.columns else LOG_COLUMNS
    return rows.withColumns(added).select(*map(quoted, columns))


def refused_rows(
    rows: DataFrame, why: Column, target: str, attempt: Column | None = None
) -> DataFrame:
    """Return the rows that say why a target refuses changes; `why` is the `Refusal` of each."""
    reason = {name: why[name] for name in Refusal._fields}
    # `Refusal.text` says the same.
    text = F.concat_ws(": ", reason["code"], reason["pointer"], reason["message"])
    marked = {"kind": F.lit(REFUSED), **reason, "message": text}
    return log_rows(rows.withColumns(marked), attempt).withColumn(TARGET, F.lit(target))


def dead_letters(spark: SparkSession, log: str, *, table_format: str = "delta") -> DataFrame:
    """Return the dead letters of a log that were not replayed, with reasons and original bytes.

    A replay that decodes a dead letter appends a row with the same position, which closes it, and
    so does `close_dead_letters`.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        table_format: Format of the log.

    Returns:
        Rows of the log.
    """
    return open_letters(LogPlace(log, table_format).read(spark))


def refused(
    spark: SparkSession, log: str, *, table_format: str = "delta", target: str | None = None
) -> DataFrame:
    """Return the open refused changes of a log, with the reason of each.

    A replay that applies one appends a row with the same position, which closes it.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        table_format: Format of the log.
        target: Path or name of the tables, as for `apply_changes`: what other targets refused is
            left out. None for all targets.

    Returns:
        Rows of the log, one for each change and target that refused it; ``target`` is NULL in rows
        of earlier versions, which are of any target.
    """
    rows = LogPlace(log, table_format).read(spark)
    if target is not None:
        return open_refusals(of_target(rows, target))
    return _open(rows, REFUSED, [TARGET] if TARGET in rows.columns else [])


def unapplied(
    spark: SparkSession,
    log: str,
    *,
    table_format: str = "delta",
    target: str | None = None,
    only_tables: Sequence[str] | None = None,
    except_tables: Sequence[str] | None = None,
) -> DataFrame:
    """Return how many changes of each table of the source are in no table, and why.

    `verify` compares tables with the other changes of the log.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        table_format: Format of the log.
        target: Path or name of the tables, as for `apply_changes`: what other targets refused is
            left out. None for all targets.
        only_tables: As for `apply_changes`.
        except_tables: As for `apply_changes`.

    Returns:
        ``table``, as ``database.table`` in the messages; ``refused``: how many changes were
        refused, by the target or by any; ``key_missing``: how many have no key. Tables of which all
        changes are applied are left out.

    Raises:
        ValueError: The names of tables are not valid.
    """
    chosen = chosen_tables(only_tables, except_tables)
    rows = LogPlace(log, table_format).read(spark)
    rows = rows if target is None else of_target(rows, target)
    keyless = rows.where((F.col("kind") == CHANGE) & F.col("key").isNull())
    lost = open_refusals(rows).unionByName(newest(keyless, rows))
    grouped = lost.where(has_name(table_name(), chosen)).groupBy(table_name().alias("table"))
    is_refused = F.col("kind") == REFUSED
    return grouped.agg(
        F.count_if(is_refused).alias("refused"), F.count_if(~is_refused).alias("key_missing")
    )


def of_target(rows: DataFrame, target: str) -> DataFrame:
    """Return the rows of a log without the refusals of other targets."""
    own = absolute(target, is_template=True)
    return rows.where(F.col(TARGET).isNull() | (F.col(TARGET) == own))


def open_letters(rows: DataFrame) -> DataFrame:
    """Return the open dead letters among the rows of a log, of each place the newest."""
    return _open(rows, DEAD_LETTER)


def open_refusals(rows: DataFrame) -> DataFrame:
    """Return the open refusals among the rows of a log, of each place the newest."""
    return _open(rows, REFUSED)


def _open(rows: DataFrame, kind: str, apart: Sequence[str] = ()) -> DataFrame:
    """Return the newest row of a kind at each place that no other row closes.

    Rows of one attempt that differ in the columns `apart` are all returned.
    """
    may_close, closes = F.lit(False), list[str]()  # noqa: FBT003 - a column of this value
    for one, later in CLOSED_BY[kind].items():
        is_late = "" if later is None else f" AND other.{ATTEMPT} >= row.{ATTEMPT} + {later}"
        closes.append(f"(other.kind = '{one}'{is_late})")
        # Statistics let files without replays be skipped.
        may_close |= (F.col("kind") == one) & (F.col(ATTEMPT) >= (later or 0))
    found = without(rows.where(F.col("kind") == kind), rows.where(may_close), " OR ".join(closes))
    own = F.when(~is_placed(), F.monotonically_increasing_id())
    return (
        found.withColumn("_own", own).dropDuplicates([*ELEMENT_PLACE, "_own", *apart]).drop("_own")
    )


def accepted_attempts(rows: DataFrame) -> DataFrame:
    """Return the rows of a log without attempts of refused changes."""
    found = rows.where(F.col("kind") == REFUSED)
    return without(rows.where(F.col("kind") != REFUSED), found, f"other.{ATTEMPT} = row.{ATTEMPT}")


def newest(rows: DataFrame, log: DataFrame) -> DataFrame:
    """Return rows of a log without those that a later replay decoded again.

    All rows of the log are needed: a replay may give a change another table.
    """
    again = log.where(F.col("kind").isin(CHANGE, CONTROL) & (F.col(ATTEMPT) > 0))
    return without(rows, again, f"other.{ATTEMPT} > row.{ATTEMPT}")


def without(rows: DataFrame, others: DataFrame, condition: str = "true") -> DataFrame:
    """Return the rows at whose place no other is, of those for which a condition is true.

    A row without a position is at a place of its own.
    """
    known = [name for name in HELD if name in others.columns]
    other = others.where(is_placed()).select(*known).alias("other")
    return rows.alias("row").join(other, _at_one_place() & F.expr(condition), "left_anti")


def lacking(rows: DataFrame, log: DataFrame) -> DataFrame:
    """Return the rows that a log does not have, with their attempts; no two have one place."""
    is_open, has_key = F.col("kind").isin(DEAD_LETTER, CLOSED), "true"
    if "key" in log.columns:
        is_open |= (F.col("kind") == CHANGE) & F.col("key").isNull()
        has_key = _HAS_KEY
    later = (F.max(ATTEMPT) + 1).alias("later")
    tried = log.where(is_open & is_placed()).groupBy(*ELEMENT_PLACE).agg(later).alias("other")
    new = without(rows, log, _IS_KNOWN.format(has_key=has_key))
    found = new.alias("row").join(tried, _at_one_place(), "left")
    attempt = F.coalesce("other.later", f"row.{ATTEMPT}").alias(ATTEMPT)
    return found.select(*(attempt if n == ATTEMPT else F.col(f"row.{n}") for n in rows.columns))


def _at_one_place() -> Column:
    """Return the condition that `row` and `other` have the same place."""
    names = ((F.col(f"row.{name}"), F.col(f"other.{name}")) for name in ELEMENT_PLACE)
    return reduce(and_, (one.eqNullSafe(other) for one, other in names))


def is_placed() -> Column:
    """Return the condition that a row has a position."""
    return F.col("offset").isNotNull() | F.col("number").isNotNull()
