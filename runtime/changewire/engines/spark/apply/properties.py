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
    keep(spark, tombstones, {KEYS: keys_text(keys)})


def keys_text(keys: Sequence[str]) -> str:
    """Return what the property `KEYS` has."""
    return property_text([*keys])


def keep_truncated(spark: SparkSession, tombstones: str, order: Order) -> None:
    """Keep the order of a truncate, so that nothing older comes back; a newer one stays."""
    if order > truncated(spark, tombstones):
        keep(spark, tombstones, {TRUNCATED: order_text(order)})


def truncated(spark: SparkSession, tombstones: str) -> Order:
    """Return the order of the newest truncate of a table, which its tombstones keep."""
    return order_value(kept(spark, tombstones).get(TRUNCATED))


def keys_of(spark: SparkSession, tombstones: str) -> tuple[str, ...] | None:
    """Return the columns of a table's key, which its tombstones keep; None if they have none."""
    found = property_value(kept(spark, tombstones).get(KEYS))
    return None if found is None else tuple(found)


def kept(spark: SparkSession, tombstones: str) -> dict[str, str]:
    """Return all properties of a table of tombstones."""
    rows = spark.sql(f"SHOW TBLPROPERTIES {tombstones}").collect()
    return {row["key"]: row["value"] for row in rows}


def keep(spark: SparkSession, tombstones: str, properties: Mapping[str, str]) -> None:
    """Set properties of a table of tombstones, by one commit."""
    pairs = ", ".join(f"'{name}' = '{text}'" for name, text in properties.items())
    spark.sql(f"ALTER TABLE {tombstones} SET TBLPROPERTIES ({pairs})")
