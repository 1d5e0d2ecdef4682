"""Messages of Lindorm without a schema: the text of a row is taken as it is."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

KEY = "id"
"""The column that names a row."""

MESSAGE = (
    "schema string, payload struct<op: string, ts_ms: long, before: string, after: string, "
    "source: struct<version: string, db: string, namespace: string, table: string, ts_ms: long>>"
)
_OPS = {"c": "insert", "u": "update", "d": "delete", "r": "read"}


def parsed(frame: DataFrame) -> DataFrame:
    """Parse messages to typed fields, and go no further."""
    return frame.select("value", F.from_json(F.col("value").cast("string"), MESSAGE).alias("m"))


def rows(frame: DataFrame) -> DataFrame:
    """Make the columns of changes and dead letters."""
    payload, source = "m.payload.", "m.payload.source."
    op, time = F.col(f"{payload}op"), F.col(f"{source}ts_ms")
    before, after = F.col(f"{payload}before"), F.col(f"{payload}after")
    is_dead = F.coalesce(~op.isin(*_OPS), F.lit(True))  # noqa: FBT003
    place = F.struct(
        F.lit("lindorm").alias("system"),
        F.col(f"{source}namespace").alias("database"),
        F.lit(None).cast("string").alias("schema"),
        F.col(f"{source}table").alias("table"),
    )
    attributes = F.struct(
        op, f"{payload}ts_ms", F.lit("full").alias("image"), f"{source}db", f"{source}version"
    )
    return parsed(frame).select(
        F.when(is_dead, "dead_letter").otherwise("change").alias("kind"),
        F.lit(0).alias("element"),
        F.lit(1).alias("elements"),
        _word(op).alias("op"),
        place.alias("source"),
        _key(F.coalesce(after, before)).alias("key"),
        before.alias("before"),
        after.alias("after"),
        F.timestamp_millis(time).alias("event_time"),
        F.struct(time.alias("major"), F.lit(0).cast("long").alias("minor")).alias("sequence"),
        F.to_json(attributes).alias("attributes"),
        F.when(is_dead, F.col("value")).alias("value"),
    )


def _word(op: Column) -> Column:
    found = F.lit(None).cast("string")
    for letter, word in _OPS.items():
        found = F.when(op == letter, word).otherwise(found)
    return found


def _key(row: Column) -> Column:
    return F.to_json(F.struct(F.get_json_object(row, f"$.{KEY}").cast("long").alias(KEY)))
