"""Rebuild tables from their log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.errors import OutputError
from changewire.engines.options import Numbers, TableOptions
from changewire.engines.settings import Deletes, Misfits, TableSettings
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import of_target
from changewire.engines.spark.merge.constraints import LENIENT
from changewire.engines.spark.merge.current import effects_of_log, rows_of_log
from changewire.engines.spark.merge.facts import known_log
from changewire.engines.spark.merge.formats import format_of
from changewire.engines.spark.merge.from_log import feeds
from changewire.engines.spark.merge.hard import STATE
from changewire.engines.spark.merge.plan import NEEDED, There, check_columns, shape_of
from changewire.engines.spark.merge.replace import Replacing
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.merge.tuning import batch_settings
from changewire.engines.spark.merge.violations import check_rows, stored
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.session import changed
from changewire.engines.typed.options import AppliedOptions, applied_options, warn_unmatched
from changewire.engines.typed.rebuilt import rows_asked, settings_asked
from changewire.tables.names import template_of
from changewire.tables.row_state import COLUMN
from changewire_messages.tables.spark import ROW_STATE


def rebuild(
    spark: SparkSession,
    log: str,
    *,
    target: str,
    tables: Iterable[str] | None = None,
    where: str | None = None,
    table_format: str = "delta",
    default_table: str | None = None,
    apply_truncates: bool = False,
    deletes: Deletes | None = None,
    one_table: bool = False,
    only_tables: Sequence[str] | None = None,
    except_tables: Sequence[str] | None = None,
    row_schema: Any = None,
    misfits: Misfits | None = None,
    numbers: Numbers | None = None,
    settings: Mapping[str, TableSettings] | None = None,
) -> list[str]:
    """Rebuild tables from their log: each gets the rows that the log says, in one commit.

    It repairs a table that something else changed. If a source loaded its rows again, because a
    statement changed them without messages, `where` makes the tables of what came since. With
    `row_schema` tables get other columns: those that it says by all these changes, also by the ones
    that a table refused. Columns that nothing in the log names stay as they are. With `settings`
    tables also get other partitions and properties.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        target: Path or name of the tables, as for `apply_changes`.
        tables: Names of sources such as ``shop.orders``, whatever fields the target has, or of
            these fields alone; None for all tables that the log has.
        where: Condition in SQL on rows of the log, such as ``"timestamp >= '2026-07-01'"``.
        table_format: Format of log and tables.
        default_table: Table of writes that name none.
        apply_truncates: Whether truncates are applied.
        deletes: ``flag`` if the tables keep deleted rows, ``remove`` if not; by default what the
            last run said, which tables remember.
        one_table: As for `apply_changes`.
        only_tables: As for `apply_changes`.
        except_tables: As for `apply_changes`.
        row_schema: How tables have their rows from now on, as for `apply_changes`. By default they
            keep their columns.
        misfits: As for `apply_changes`, with `row_schema`.
        numbers: As for `apply_changes`, with `row_schema`.
        settings: Settings of some tables, as ``tables`` of `apply_changes`, with `row_schema`: how
            tables are from now on. A rebuild does not change the columns of a key. The logger
            ``changewire.rebuild`` warns of names that no table of the log has.

    Returns:
        Paths or names of the tables that were rebuilt.

    Raises:
        ValueError: An argument is not valid.
        OutputError: The log has no table of a name, or a table does not exist; `apply_changes`
            makes tables. Or its constraints do not allow rows that the log says, or changes do not
            fit the columns of `row_schema`. Such a table is as it was.
    """
    asked = TableOptions(
        target,
        default_table=default_table,
        apply_truncates=apply_truncates,
        one_table=one_table,
        only_tables=only_tables,
        except_tables=except_tables,
        **rows_asked(row_schema, misfits, numbers, settings),
    )
    how = AppliedOptions(**applied_options(None, asked, template_of(asked.target), [log]))
    how.settings.check_format(table_format)
    whole = of_target(LogPlace(log, table_format).read(spark), target)
    rows = whole if where is None else whole.where(where)
    known = known_log(rows, how.routing, with_truncates=apply_truncates, table_format=table_format)
    warn_unmatched(how, known)
    made: list[str] = []
    with batch_settings(spark):
        for one in known.chosen(tables):
            mine = rows.where(feeds(how.routing, one, known))
            table = SparkTable(one.name, format_of(table_format))
            there, floor = _there(spark, table), known.truncated(one)
            given = settings_asked(how, known.names(one), there.properties, deletes)
            if row_schema is not None:
                Replacing(one, table, there, how, given).replace(mine, rows, floor)
            else:
                there = _mended(spark, table, there)
                shape = shape_of(there)
                found = rows_of_log(effects_of_log(mine, rows, shape), shape, floor)
                _overwrite(table, there, found, keeps_deleted=given.keeps_deleted)
            made.append(one.name)
    return made


def _there(spark: SparkSession, table: SparkTable) -> There:
    """Return a table that exists."""
    there = table.read(spark)
    if there is None:
        raise OutputError(f"{table.target}: no table to rebuild; apply_changes makes tables")
    if COLUMN not in there.columns.names:
        check_columns(there.columns, NEEDED, table.target)
    return there


def _mended(spark: SparkSession, table: SparkTable, there: There) -> There:
    """Return a table, which gets the fields of states that those of earlier versions lack."""
    known: Any = there.columns[COLUMN].dataType
    lacking = [one for one in ROW_STATE.fields if one.name not in known.names]
    if not lacking:
        return there
    added = ", ".join(f"{COLUMN}.{one.name} {one.dataType.simpleString()}" for one in lacking)
    spark.sql(f"ALTER TABLE {table.identifier} ADD COLUMNS ({added})")
    return _there(spark, table)


def _overwrite(table: SparkTable, there: There, found: DataFrame, *, keeps_deleted: bool) -> None:
    """Give a table the rows that `rows_of_log` returned; columns of others stay as they are."""
    spark, shape, asked = found.sparkSession, shape_of(there), there.constraints
    if not keeps_deleted:
        found = found.where(~F.col(STATE)["deleted"])
    before = spark.table(table.identifier)
    with changed(spark, LENIENT if asked.are_any else {}):
        rows = stored(found, shape, there, before if there.unwritten else None)
        if asked.rules:
            check_rows(rows, asked, table.target)
        names = [one for one in rows.columns if one not in {*asked.generated, *asked.closed}]
        rows = rows.select(*map(quoted, names)).localCheckpoint()
        rows.writeTo(table.identifier).overwrite(F.lit(True))  # noqa: FBT003 - a column of this value
