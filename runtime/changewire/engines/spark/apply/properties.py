"""What a table of tombstones keeps of its table in its properties: the key, and truncates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from changewire.engines.kept import (
    KEYS,
    TRUNCATED,
    order_text,
    order_value,
    property_text,
    property_value,
)
from changewire.tables.order import Order


def keep_keys(spark: SparkSession, tombstones: str, keys: Sequence[str]) -> None:
    """Keep the columns of a table's key, in their order in its text, beside its tombstones."""
    set_properties(spark, tombstones, {KEYS: keys_text(keys)})


def keys_text(keys: Sequence[str]) -> str:
    """Return what the property `KEYS` has."""
    return property_text([*keys])


def keep_truncated(spark: SparkSession, tombstones: str, order: Order) -> None:
    """Keep the order of a truncate, so that nothing older comes back; a newer one stays."""
    if order > truncated(spark, tombstones):
        set_properties(spark, tombstones, {TRUNCATED: order_text(order)})


def truncated(spark: SparkSession, tombstones: str) -> Order:
    """Return the order of the newest truncate of a table, which its tombstones keep."""
    return order_value(properties_of(spark, tombstones).get(TRUNCATED))


def keys_of(spark: SparkSession, tombstones: str) -> tuple[str, ...] | None:
    """Return the columns of a table's key, which its tombstones keep; None if they have none."""
    found = property_value(properties_of(spark, tombstones).get(KEYS))
    return None if found is None else tuple(found)


def properties_of(spark: SparkSession, table: str) -> dict[str, str]:
    """Return all properties of a table."""
    rows = spark.sql(f"SHOW TBLPROPERTIES {table}").collect()
    return {row["key"]: row["value"] for row in rows}


def set_properties(spark: SparkSession, table: str, properties: Mapping[str, str]) -> None:
    """Set properties of a table in one commit; names and texts are without quotes."""
    pairs = ", ".join(f"'{name}' = '{text}'" for name, text in properties.items())
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({pairs})")
