"""A merge by hand that keeps deleted rows, flagged, and counts what it did.

So an older write in a later batch brings no deleted row back, as with ``deletes="flag"``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.by_hand import dataworks
from benchmarks.by_hand.streams import COLUMNS, TABLE, log_rows, newest

_VALUES: Final = (*COLUMNS, "sequence", "deleted")

_MERGE: Final = (
    "MERGE INTO delta.`{table}` AS t USING {{source}} AS s ON t.id = s.id "  # noqa: S608 - our own names
    "WHEN MATCHED AND s.sequence > t.sequence THEN UPDATE SET "
    f"{', '.join(f't.{name} = s.{name}' for name in _VALUES)} "
    f"WHEN NOT MATCHED THEN INSERT ({', '.join(_VALUES)}) "
    f"VALUES ({', '.join(f's.{name}' for name in _VALUES)})"
)


def merge(
    messages: DataFrame,
    *,
    table: str,
    log: str,
    checkpoint: str,
    trigger: Mapping[str, Any],
    told: Callable[[dict[str, int]], None],
) -> StreamingQuery:
    """Start a query that merges changes into a Delta table, made if it is not there.

    Args:
        messages: A stream of Kafka's source.
        table: Path of the table; its column ``deleted`` says which rows are no more.
        log: Path of a change log that gets each batch first.
        checkpoint: Folder of the checkpoint.
        trigger: Arguments of `DataStreamWriter.trigger`.
        told: Gets the counts of each batch: its messages by operation, and rows of the table.
    """
    spark = messages.sparkSession
    spark.sql(f"CREATE TABLE IF NOT EXISTS delta.`{table}` ({TABLE}, deleted boolean) USING delta")

    def write(batch: DataFrame, number: int) -> None:
        batch.persist()
        counts = _counts(batch)
        writer = log_rows(batch).write.format("delta").mode("append")
        writer = writer.option("txnAppId", checkpoint).option("txnVersion", str(number))
        writer.save(log)
        rows = newest(batch).withColumn("deleted", F.col("op") == "delete")
        done = batch.sparkSession.sql(_MERGE.format(table=table), source=rows).collect()[0]
        batch.unpersist()
        told({**counts, **done.asDict()})

    writer = dataworks.parsed(messages, COLUMNS).writeStream.foreachBatch(write)
    return writer.option("checkpointLocation", checkpoint).trigger(**trigger).start()


def _counts(batch: DataFrame) -> dict[str, int]:
    """Return how many messages there are of each operation, and how many cannot be read."""
    op = F.coalesce(dataworks.word(F.col("m.payload.op")), F.lit("refused")).alias("op")
    return {row["op"]: row["count"] for row in batch.groupBy(op).count().collect()}
