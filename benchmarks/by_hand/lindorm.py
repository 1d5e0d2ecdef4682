"""Messages of Lindorm: the text of a row is taken as it is, or read by the types of a schema."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

KEY = "id"
"""The column that names a row."""

COLUMNS: Mapping[str, str] = {
    "id": "long",
    "name": "string",
    "city": "string",
    "balance": "double",
    "is_active": "boolean",
    "created_at": "long",
}
"""The columns of the table, by the types that the schema of its messages has."""

TIMES = frozenset({"created_at"})
"""Those of them that are times, in milliseconds since the Unix epoch."""

_MESSAGE = (
    "schema string, payload struct<op: string, ts_ms: long, before: {row}, after: {row}, "
    "source: struct<version: string, db: string, namespace: string, table: string, ts_ms: long>>"
)
_TYPED = f"struct<{', '.join(f'{name}: {kind}' for name, kind in COLUMNS.items())}>"
_OPS = {"c": "insert", "u": "update", "d": "delete", "r": "read"}
_WRITTEN = {"timeZone": "UTC", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


def parsed(frame: DataFrame) -> DataFrame:
    """Parse messages to fields whose rows are text, and go no further."""
    return _parsed(frame, "string")


def parsed_by_schema(frame: DataFrame) -> DataFrame:
    """Parse messages to typed fields, and go no further."""
    return _parsed(frame, _TYPED)


def _parsed(frame: DataFrame, row: str) -> DataFrame:
    message = F.from_json(F.col("value").cast("string"), _MESSAGE.format(row=row))
    return frame.select("value", message.alias("m"))


def rows(frame: DataFrame) -> DataFrame:
    """Make the columns of changes and dead letters, of messages without a schema."""
    before, after = F.col("m.payload.before"), F.col("m.payload.after")
    key = F.get_json_object(F.coalesce(after, before), f"$.{KEY}").cast("long")
    return _made(parsed(frame), key, before, after)


def rows_by_schema(frame: DataFrame) -> DataFrame:
    """Make the same of messages with a schema: times are written as text."""
    before, after = F.col("m.payload.before"), F.col("m.payload.after")
    key = F.coalesce(after[KEY], before[KEY])
    fingerprint = F.left(F.sha2(F.col("m.schema").cast("binary"), 256), F.lit(32))
    made = parsed_by_schema(frame)
    return _made(made, key, _row(before), _row(after), fingerprint.alias("schema_fingerprint"))


def _row(image: Column) -> Column:
    values = (
        F.timestamp_millis(image[name]).alias(name) if name in TIMES else image[name].alias(name)
        for name in COLUMNS
    )
    return F.when(image.isNotNull(), F.to_json(F.struct(*values), _WRITTEN))


def _made(
    messages: DataFrame, key: Column, before: Column, after: Column, *others: Column
) -> DataFrame:
    payload, source = "m.payload.", "m.payload.source."
    op, time = F.col(f"{payload}op"), F.col(f"{source}ts_ms")
    is_dead = F.coalesce(~op.isin(*_OPS), F.lit(True))  # noqa: FBT003
    place = F.struct(
        F.lit("lindorm").alias("system"),
        F.col(f"{source}namespace").alias("database"),
        F.lit(None).cast("string").alias("schema"),
        F.col(f"{source}table").alias("table"),
    )
    attributes = F.struct(
        op, f"{payload}ts_ms", F.lit("full").alias("row_image"), f"{source}db", f"{source}version"
    )
    return messages.select(
        *others,
        F.when(is_dead, "dead_letter").otherwise("change").alias("kind"),
        F.lit(0).alias("element"),
        F.lit(1).alias("elements"),
        _word(op).alias("op"),
        place.alias("source"),
        F.to_json(F.struct(key.alias(KEY))).alias("key"),
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
