"""Messages of DataWorks: values of DATE columns become times, and the schema has a fingerprint."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

KEY = "id"
"""The column that names a row."""

COLUMNS: Mapping[str, tuple[str, str]] = {
    "id": ("LONG", "long"),
    "name": ("STRING", "string"),
    "city": ("STRING", "string"),
    "balance": ("DOUBLE", "string"),
    "is_active": ("BOOLEAN", "boolean"),
    "created_at": ("DATE", "long"),
}
"""The columns of the table: their types as DataWorks declares them, and those by which Spark parses
them. A decimal of the source is declared as DOUBLE and sent as text."""

Columns = Mapping[str, tuple[str, str]]

MESSAGE = (
    "schema string, version string, payload struct<op: string, before: {row}, after: {row}, "
    "sequenceId: string, scn: string, ddl: struct<text: string, ddlMeta: string>, "
    "timestamp: struct<eventTime: long, systemTime: long, checkpointTime: long>>"
)
_SOURCE = (
    "source struct<dbType: string, dbVersion: string, dbName: string, schemaName: string, "
    "tableName: string>"
)
_CHANGES = {"INSERT": "insert", "UPDATE_AFTER": "update", "DELETE": "delete"}
_TIMES = {"timeZone": "UTC", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


def parsed(frame: DataFrame, columns: Columns = COLUMNS) -> DataFrame:
    """Parse messages to typed fields, and go no further."""
    fields = ", ".join(f"{name}: {kind}" for name, (_, kind) in columns.items())
    message = MESSAGE.format(row=f"struct<dataColumn: struct<{fields}>>")
    return frame.withColumn("m", F.from_json(F.col("value").cast("string"), message))


def rows(frame: DataFrame) -> DataFrame:
    """Make the columns of changes and dead letters."""
    return made(parsed(frame))


def made(messages: DataFrame, columns: Columns = COLUMNS, *others: str) -> DataFrame:
    """Make the columns of changes and dead letters of parsed messages, after other columns."""
    text, op, times = F.col("m.schema"), F.col("m.payload.op"), "m.payload.timestamp."
    messages = messages.withColumn("source", F.from_json(text, _SOURCE)["source"])
    before, after = F.col("m.payload.before.dataColumn"), F.col("m.payload.after.dataColumn")
    is_dead = F.coalesce(~op.isin(*_CHANGES), F.lit(True))  # noqa: FBT003
    place = F.struct(
        F.lit("dataworks").alias("system"),
        F.col("source.dbName").alias("database"),
        F.col("source.schemaName").alias("schema"),
        F.col("source.tableName").alias("table"),
    )
    attributes = F.struct(
        F.col("source.dbType").alias("db_type"),
        F.col("source.dbVersion").alias("db_version"),
        op,
        "m.version",
        F.col(f"{times}systemTime").alias("system_time"),
        F.col(f"{times}checkpointTime").alias("checkpoint_time"),
        F.lit("full").alias("row_image"),
        "m.payload.scn",
    )
    major = F.col("m.payload.sequenceId").cast("long")
    return messages.select(
        *others,
        F.when(is_dead, "dead_letter").otherwise("change").alias("kind"),
        F.lit(0).alias("element"),
        F.lit(1).alias("elements"),
        word(op).alias("op"),
        place.alias("source"),
        F.to_json(F.struct(F.coalesce(after[KEY], before[KEY]).alias(KEY))).alias("key"),
        _row(before, columns).alias("before"),
        _row(after, columns).alias("after"),
        F.timestamp_millis(F.col(f"{times}eventTime")).alias("event_time"),
        F.struct(major.alias("major"), F.lit(1).cast("long").alias("minor")).alias("sequence"),
        F.left(F.sha2(text.cast("binary"), 256), F.lit(32)).alias("schema_fingerprint"),
        F.to_json(attributes).alias("attributes"),
        F.when(is_dead, F.col("value")).alias("value"),
    )


def word(op: Column) -> Column:
    """Return the operation of a change; NULL for anything else."""
    found = F.lit(None).cast("string")
    for name, word in _CHANGES.items():
        found = F.when(op == name, word).otherwise(found)
    return found


def values(image: Column, columns: Columns) -> list[Column]:
    """Return the values of a row, with times for numbers."""
    return [
        F.timestamp_millis(image[name]).alias(name) if kind == "DATE" else image[name].alias(name)
        for name, (kind, _) in columns.items()
    ]


def _row(image: Column, columns: Columns) -> Column:
    return F.when(image.isNotNull(), F.to_json(F.struct(*values(image, columns)), _TIMES))
