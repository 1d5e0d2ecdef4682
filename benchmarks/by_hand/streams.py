"""Jobs that land a topic of DataWorks, and merge it, written by hand for one table.

A change log is one append, of changes and of what cannot be read. A merge takes the newest change
of each key in a batch and compares sequences with the table. Deleted rows are gone: what is older
than a delete and comes in a later batch brings its row back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.by_hand import dataworks

COLUMNS: Final[dataworks.Columns] = {
    name: dataworks.COLUMNS[name] for name in ("id", "name", "balance", "created_at")
}
"""The columns of the table, as in `dataworks.COLUMNS`."""

TABLE: Final = "id long, name string, balance double, created_at timestamp, sequence long"
"""The columns of the merged table: those of its rows, and the sequence of the newest change."""

_RECORD: Final = ("topic", "partition", "offset", "timestamp", "record_key")
_VALUES: Final = (*COLUMNS, "sequence")

MERGE: Final = (
    "MERGE INTO {table} AS t USING {{source}} AS s ON t.id = s.id "  # noqa: S608 - our own names
    "WHEN MATCHED AND s.sequence > t.sequence AND s.op = 'delete' THEN DELETE "
    f"WHEN MATCHED AND s.sequence > t.sequence THEN UPDATE SET "
    f"{', '.join(f't.{name} = s.{name}' for name in _VALUES)} "
    "WHEN NOT MATCHED AND s.op <> 'delete' THEN "
    f"INSERT ({', '.join(_VALUES)}) VALUES ({', '.join(f's.{name}' for name in _VALUES)})"
)
"""SQL that merges the newest change of each row, which are its `source`, into a table."""


def land(
    messages: DataFrame, *, log: str, checkpoint: str, trigger: Mapping[str, Any]
) -> StreamingQuery:
    """Start a query that appends what messages hold to one Delta table.

    Args:
        messages: A stream of Kafka's source.
        log: Path of the table.
        checkpoint: Folder of the checkpoint.
        trigger: Arguments of `DataStreamWriter.trigger`.
    """
    writer = log_rows(dataworks.parsed(messages, COLUMNS)).writeStream.format("delta")
    writer = writer.option("checkpointLocation", checkpoint).trigger(**trigger)
    return writer.outputMode("append").start(log)


def merge(
    messages: DataFrame,
    *,
    table: str,
    log: str,
    checkpoint: str,
    trigger: Mapping[str, Any],
) -> StreamingQuery:
    """Start a query that merges changes into a Delta table, made if it is not there.

    Args:
        messages: A stream of Kafka's source.
        table: Path of the table.
        log: Path of a change log that gets each batch first.
        checkpoint: Folder of the checkpoint.
        trigger: Arguments of `DataStreamWriter.trigger`.
    """
    spark = messages.sparkSession
    spark.sql(f"CREATE TABLE IF NOT EXISTS delta.`{table}` ({TABLE}) USING delta")

    def write(batch: DataFrame, number: int) -> None:
        batch.persist()
        writer = log_rows(batch).write.format("delta").mode("append")
        writer = writer.option("txnAppId", checkpoint).option("txnVersion", str(number))
        writer.save(log)
        batch.sparkSession.sql(MERGE.format(table=f"delta.`{table}`"), source=newest(batch))
        batch.unpersist()

    writer = dataworks.parsed(messages, COLUMNS).writeStream.foreachBatch(write)
    return writer.option("checkpointLocation", checkpoint).trigger(**trigger).start()


def log_rows(parsed: DataFrame) -> DataFrame:
    """Return the rows of the change log, with where their records stood."""
    return dataworks.made(parsed.withColumnRenamed("key", "record_key"), COLUMNS, *_RECORD)


def newest(parsed: DataFrame) -> DataFrame:
    """Return the newest change of each row."""
    before, after = F.col("m.payload.before.dataColumn"), F.col("m.payload.after.dataColumn")
    image = F.coalesce(after, before)
    sequence = F.col("m.payload.sequenceId").cast("long").alias("sequence")
    op = dataworks.word(F.col("m.payload.op")).alias("op")
    values = [
        column.cast("double").alias(name) if COLUMNS[name][0] == "DOUBLE" else column
        for name, column in zip(COLUMNS, dataworks.values(F.col("image"), COLUMNS), strict=True)
    ]
    changes = parsed.select("partition", "offset", op, sequence, image.alias("image"))
    changes = changes.where("op IS NOT NULL AND image IS NOT NULL")
    rows = changes.select("partition", "offset", "op", "sequence", *values)
    order = [F.desc(name) for name in ("sequence", "partition", "offset")]
    place = F.row_number().over(Window.partitionBy("id").orderBy(*order))
    return rows.withColumn("place", place).where("place = 1").drop("place")
