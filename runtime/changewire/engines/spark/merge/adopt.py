"""Tables that something else has made, or that belong to another query, given to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from changewire.engines.adopted import check_key_columns, check_keys_of_rows
from changewire.engines.applied import COLUMNS, KEYS, OWNER, keys_in, property_text
from changewire.engines.spark.merge.constraints import check_key, constraints_of
from changewire.engines.spark.merge.formats import format_of, properties_of, set_properties
from changewire.engines.spark.merge.plan import NEEDED, SparkRules, check_columns
from changewire.engines.spark.parts import quoted
from changewire.tables.names import absolute
from changewire.tables.row_state import COLUMN
from changewire_messages.tables.spark import ROW_STATE


def adopt_table(
    spark: SparkSession,
    target: str,
    *,
    key_columns: Sequence[str] | None = None,
    table_format: str = "delta",
) -> None:
    """Let the next query that applies changes to a table take it over.

    A table that something else has made gets the column ``_changewire``; it is NULL in the rows
    that are there, which are older than every change. A table of another query no longer belongs
    to it: stop that query first.

    Args:
        spark: The session.
        target: The table: a path (it has a slash), or its name.
        key_columns: Columns of the key that changes name rows by; each row has another one. None
            for a table that changewire made.
        table_format: Table format: ``delta`` or ``iceberg``.

    Raises:
        ValueError: There is no such table format, or `key_columns` are missing.
        OutputError: The table lacks a column of the key, or cannot name rows by one, rows have
            none in it, two have the same, or it has another key; it is as it was.
        AnalysisException: The table does not exist.
    """
    tables, target = format_of(table_format), absolute(target)
    table = tables.identifier(target)
    tables.refresh(spark, target)
    rows = spark.table(table)
    properties = properties_of(spark, table)
    known = keys_in(properties)
    if known is None and COLUMN in rows.columns:
        advice = "; rename it, because changewire adds its own"
        check_columns(rows.schema, NEEDED, target, advice)
    found: Any = rows.schema.jsonValue()
    names = check_key_columns(target, key_columns, known, found, SparkRules(tables, None).compares)
    asked = constraints_of(spark, table, rows.schema, properties, is_delta=tables.takes_paths)
    check_key(asked, names, target)
    if key_columns is not None:
        _check(rows, names, target)
    if COLUMN not in rows.columns:
        added = StructType([*rows.schema.fields, StructField(COLUMN, ROW_STATE)])
        tables.evolve(spark, target, added)
    if OWNER in properties:
        spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('{OWNER}')")
    if known is None:
        columns = {COLUMNS: property_text([]), KEYS: property_text(names)}
        set_properties(spark, table, columns)


def _check(rows: DataFrame, key_columns: Sequence[str], target: str) -> None:
    """Check that keys name rows, each another one."""
    columns = [rows[quoted(name)] for name in key_columns]
    without = rows.where(reduce(or_, (column.isNull() for column in columns))).count()
    doubles = rows.groupBy(*columns).count().where("count > 1").count()
    check_keys_of_rows(target, key_columns, without=without, doubles=doubles)
