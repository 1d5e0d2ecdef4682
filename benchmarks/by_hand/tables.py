"""A job that merges a topic of DataWorks into several tables, written by hand for their columns.

A batch is kept, appended to the change log, and merged into one table after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.by_hand import dataworks
from benchmarks.by_hand.streams import COLUMNS, MERGE, TABLE, log_rows, newest


def merge(
    messages: DataFrame,
    *,
    tables: Mapping[str, str],
    log: str,
    format: str,
    checkpoint: str,
    trigger: Mapping[str, Any],
) -> StreamingQuery:
    """Start a query that merges changes into tables, made if they are not there.

    Args:
        messages: A stream of Kafka's source.
        tables: The identifier of each table in SQL, by its name in messages.
        log: The change log, which gets each batch first: a path of Delta, or a name.
        format: Table format: ``delta`` or ``iceberg``.
        checkpoint: Folder of the checkpoint.
        trigger: Arguments of `DataStreamWriter.trigger`.
    """
    for table in tables.values():
        columns = f"CREATE TABLE IF NOT EXISTS {table} ({TABLE})"
        messages.sparkSession.sql(f"{columns} USING {format}")

    def write(batch: DataFrame, _number: int) -> None:
        batch.persist()
        log_writer = log_rows(batch).write.format(format).mode("append")
        log_writer.save(log) if format == "delta" else log_writer.saveAsTable(log)
        for name, table in tables.items():
            source = newest(batch.where(F.col("table_name") == name))
            batch.sparkSession.sql(MERGE.format(table=table), source=source)
        batch.unpersist()

    parsed = dataworks.parsed(messages, COLUMNS)
    name = F.get_json_object("m.schema", "$.source.tableName")
    writer = parsed.withColumn("table_name", name).writeStream.foreachBatch(write)
    return writer.option("checkpointLocation", checkpoint).trigger(**trigger).start()
