"""Messages of Aerospike in JSON: batches are taken apart, and values keep their JSON types."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

MESSAGE = (
    "msg string, key array<string>, gen int, exp long, lut long, durable boolean, bins array<"
    "struct<name: string, type: string, value: {value}, order: string, ordered: boolean>>"
)
_PLAIN_TYPES = ("str", "int", "float", "bool")


def parsed(frame: DataFrame) -> DataFrame:
    """Parse messages to typed fields, and go no further: the value of a bin stays JSON text."""
    schema = MESSAGE.format(value="string")
    return frame.select("value", F.from_json(_text(), schema).alias("row"))


def rows(frame: DataFrame) -> DataFrame:
    """Make the columns of changes and dead letters, a row for each element."""
    schema = f"array<struct<{MESSAGE.format(value='variant')}>>"
    messages = frame.select("value", F.from_json(_text(), schema).alias("rows"))
    elements = messages.select(
        "value",
        F.size("rows").alias("elements"),
        F.posexplode_outer("rows").alias("element", "row"),
    )
    key, lut, is_write = F.col("row.key"), F.col("row.lut"), F.col("row.msg") == "write"
    is_dead = F.coalesce(~F.col("row.msg").isin("write", "delete"), F.lit(True))  # noqa: FBT003
    source = F.struct(
        F.lit("aerospike").alias("system"),
        key[0].alias("database"),
        F.lit(None).cast("string").alias("schema"),
        key[1].alias("table"),
    )
    return elements.select(
        F.when(is_dead, "dead_letter").otherwise("change").alias("kind"),
        "element",
        F.when(F.col("element") == 0, F.col("elements")).otherwise(0).alias("elements"),
        F.when(is_write, "upsert").otherwise("delete").alias("op"),
        source.alias("source"),
        F.to_json(F.struct(key[2].alias("aerospike_digest"))).alias("key"),
        F.when(is_write, F.to_json(_bins(lambda item: item["value"]))).alias("after"),
        F.timestamp_millis(lut).alias("event_time"),
        F.when(lut > 0, F.struct(lut.alias("major"), F.col("row.gen").alias("minor"))).alias(
            "sequence"
        ),
        F.to_json(_attributes(key, is_write)).alias("attributes"),
        F.when(is_dead, F.col("value")).alias("value"),
    )


def _text() -> Column:
    return F.col("value").cast("string")


def _bins(value: Callable[[Column], Column], bins: Column | str = "row.bins") -> Column:
    """Return a map from the names of bins."""
    return F.map_from_entries(F.transform(bins, lambda item: F.struct(item["name"], value(item))))


def _attributes(key: Column, is_write: Column) -> Column:
    telling = F.filter("row.bins", lambda item: ~item["type"].isin(*_PLAIN_TYPES))
    notes = _bins(lambda item: F.struct(item["type"], item["order"], item["ordered"]), telling)
    return F.struct(
        key[1].alias("set"),
        key[3].alias("user_key"),
        "row.gen",
        "row.exp",
        "row.lut",
        "row.durable",
        F.when(is_write, "full").alias("row_image"),
        F.when(F.size(telling) > 0, notes).alias("bins"),
    )
