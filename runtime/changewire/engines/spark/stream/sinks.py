"""Appends that can be done again: the second time they change nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.spark.stream.output import Output

Sink = Literal["delta", "iceberg", "parquet"]
SINKS: Final[tuple[str, ...]] = get_args(Sink)
"""Formats that a stream can write exactly once."""

QUERY: Final = "query"
BATCH: Final = "batch"
"""Partition columns of Parquet outputs; many readers skip folders that begin with ``_``."""


STATISTICS: Final = (
    *("event_time", "time", "timestamp"),
    *("topic", "partition", "offset", "path", "number"),
)
"""Columns of Delta outputs that have statistics, by which queries skip files: those that grow from
file to file. Most others are text, of which statistics cost much and let little be skipped."""


@dataclass(frozen=True)
class BatchId:
    """What names a batch among all batches that an output ever gets.

    Attributes:
        query: Id of the query, from its checkpoint.
        number: Number that Spark gives to the batch, from 0; the same when it is done again.
    """

    query: str
    number: int


def append_delta(rows: DataFrame, output: Output, batch: BatchId) -> None:
    """Append rows in one commit, which Delta leaves out where its log has the batch.

    https://docs.delta.io/latest/delta-streaming.html#idempotent-table-writes-in-foreachbatch
    """
    writer = rows.write.format("delta").mode("append")
    writer = writer.option("txnAppId", f"changewire-{batch.query}-{output.name}")
    writer = writer.option("txnVersion", str(batch.number))
    # Delta takes it for a new table, and leaves one that is there as it is.
    named = ",".join(name for name in STATISTICS if name in rows.columns)
    output.save(writer.option("delta.dataSkippingStatsColumns", named))


def append_iceberg(rows: DataFrame, output: Output, batch: BatchId) -> None:
    """Append rows in one snapshot, unless the table has one with the batch among its properties.

    https://iceberg.apache.org/docs/latest/spark-configuration/#write-options
    """
    spark, table = rows.sparkSession, output.target
    name, value = f"changewire.{output.name}", f"{batch.query}-{batch.number}"
    if spark.catalog.tableExists(table):
        spark.catalog.refreshTable(table)
        snapshots = spark.sql(f"SELECT summary FROM {table}.snapshots")  # noqa: S608 - as SQL has it
        if not snapshots.where(F.col("summary")[name] == value).isEmpty():
            return
    writer = rows.write.format("iceberg").mode("append")
    output.save(writer.option(f"snapshot-property.{name}", value))


def append_parquet(rows: DataFrame, output: Output, batch: BatchId) -> None:
    """Put rows into the folder of the batch, in place of what it holds.

    Spark writes the files elsewhere and then renames their folder, so that readers see all of a
    batch or nothing, where the file system renames folders at once: local ones and HDFS do.
    """
    numbered = rows.withColumns({QUERY: F.lit(batch.query), BATCH: F.lit(batch.number)})
    writer = numbered.write.mode("overwrite").partitionBy(QUERY, BATCH)
    writer.option("partitionOverwriteMode", "dynamic").parquet(output.target)


APPENDS: Final[dict[str, Callable[[DataFrame, Output, BatchId], None]]] = {
    "delta": append_delta,
    "iceberg": append_iceberg,
    "parquet": append_parquet,
}
"""How each sink is written."""
