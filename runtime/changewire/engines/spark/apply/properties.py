"""What a table of tombstones keeps of its table in its properties: the key, and truncates."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from changewire.engines.kept import (
    HISTORY,
    KEYS,
    TRUNCATED,
    TableHistory,
    history_value,
    order_text,
    order_value,
    property_text,
    property_value,
)
from changewire.tables.order import Order


def keep_keys(spark: SparkSession, tombstones: str, keys: Sequence[str]) -> None:
    """Keep the columns of a table's key, in their order in its text, beside its tombstones."""
    _set_property(spark, tombstones, KEYS, property_text([*keys]))


def keep_truncated(spark: SparkSession, tombstones: str, order: Order) -> None:
    """Keep the order of a truncate, so that nothing older comes back; a newer one stays."""
    if order > truncated(spark, tombstones):
        _set_property(spark, tombstones, TRUNCATED, order_text(order))


def truncated(spark: SparkSession, tombstones: str) -> Order:
    """Return the order of the newest truncate of a table, which its tombstones keep."""
    return order_value(_properties(spark, tombstones).get(TRUNCATED))


def keys_of(spark: SparkSession, tombstones: str) -> tuple[str, ...] | None:
    """Return the columns of a table's key, which its tombstones keep; None if they have none."""
    found = property_value(_properties(spark, tombstones).get(KEYS))
    return None if found is None else tuple(found)


def history_of(spark: SparkSession, tombstones: str) -> TableHistory | None:
    """Return where the versions of a table's rows are kept; None if they are not."""
    return history_value(_properties(spark, tombstones).get(HISTORY))


def keep_history(spark: SparkSession, tombstones: str, history: TableHistory) -> None:
    """Keep where the versions of a table's rows are kept."""
    _set_property(spark, tombstones, HISTORY, history.text)


def _properties(spark: SparkSession, table: str) -> dict[str, str]:
    rows = spark.sql(f"SHOW TBLPROPERTIES {table}").collect()
    return {row["key"]: row["value"] for row in rows}


def _set_property(spark: SparkSession, table: str, name: str, text: str) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = '{text}')")
