"""The outputs of a stream: which rows each takes, and how a batch is appended to it.

Appends are idempotent: a retry changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructType

from changewire.engines.layout import DEAD_LETTER, MESSAGE_OUTPUTS, OUTPUTS, RECORD_PLACE
from changewire.engines.options import BatchId, MessageOutputs, StreamOutputs
from changewire.engines.spark.frames import Frames
from changewire.tables.names import is_path

KINDS: Final[Mapping[str, str]] = {**OUTPUTS, **MESSAGE_OUTPUTS}
"""Kind of row of each output."""

QUERY: Final = "query"
BATCH: Final = "batch"
"""Partition columns of Parquet outputs; many readers skip folders that begin with ``_``."""


STATISTICS: Final = ("event_time", "time", "timestamp", *RECORD_PLACE)
"""Columns of Delta outputs that have statistics, by which queries skip files: those that grow from
file to file. Most others are text, of which statistics cost much and let little be skipped."""


@dataclass(frozen=True)
class Output:
    """An output of a stream.

    Attributes:
        name: One of `KINDS`.
        target: A path, or the name of a table.
    """

    name: str
    target: str

    @property
    def kind(self) -> str:
        """The kind of row that it takes."""
        return KINDS[self.name]

    @property
    def is_path(self) -> bool:
        """Whether the target is a path."""
        return is_path(self.target)

    def save(self, writer: DataFrameWriter) -> None:
        """Save the rows of a writer there."""
        if self.is_path:
            writer.save(self.target)
        else:
            writer.saveAsTable(self.target)

    def read(self, spark: SparkSession, sink: str, columns: StructType | None = None) -> DataFrame:
        """Return the rows that are there, in the format of a sink.

        Files of Parquet need `columns` if there may be none of them.
        """
        if not self.is_path:
            return spark.table(self.target)
        reader = spark.read.format(sink)
        if sink == "parquet" and columns is not None:
            reader = reader.schema(columns)
        return reader.load(self.target)

    def rows(self, decoded: Frames) -> DataFrame:
        """Return its rows, with the columns that the output has.

        Dead letters get a column ``time``: when they were rejected.
        """
        found = decoded.of_kind(self.kind)
        if self.kind != DEAD_LETTER:
            return found
        return found.withColumn("time", F.current_timestamp())


def outputs_of(targets: StreamOutputs | MessageOutputs) -> Sequence[Output]:
    """Return the outputs of a stream, in the order in which a batch is written.

    Dead letters come last: if a batch that a crash cut off has more of them when it is retried,
    they are in two outputs, and never in none.
    """
    return [Output(name, target) for name, target in targets._asdict().items()]


def append_delta(rows: DataFrame, output: Output, batch: BatchId) -> None:
    """Append rows in one commit, which Delta skips if its log has the batch.

    https://docs.delta.io/latest/delta-streaming.html#idempotent-table-writes-in-foreachbatch
    """
    writer = rows.write.format("delta").mode("append")
    writer = writer.option("txnAppId", f"changewire-{batch.query}-{output.name}")
    writer = writer.option("txnVersion", str(batch.number))
    # Delta uses it for a new table, and leaves an existing one as it is.
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
    batch or nothing, if the file system renames folders atomically: local ones and HDFS do.
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
