"""Where a log is: a path or a table, and how rows are appended to it once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructType

from changewire.engines.errors import OutputError
from changewire.engines.log import STATISTICS, STATISTICS_OPTION
from changewire.engines.options import SINKS
from changewire.engines.spark.stream.compatible import schema_of
from changewire.engines.spark.types import differing
from changewire.tables.names import is_path


@dataclass(frozen=True)
class LogPlace:
    """A log.

    Attributes:
        target: Its path, which has a slash, or the name of a table.
        sink: Its format: ``delta``, ``iceberg`` or ``parquet``.
    """

    target: str
    sink: str = "delta"

    @property
    def is_path(self) -> bool:
        """Whether the target is a path."""
        return is_path(self.target)

    def schema(self, spark: SparkSession) -> StructType | None:
        """Return the columns that it has; None if it is not there."""
        return schema_of(spark, self.sink, self.target)

    def check(self, spark: SparkSession, columns: StructType) -> bool:
        """Check that it can take rows if it exists, and return whether it does.

        Raises:
            OutputError: It lacks a column, or has it of another type.
        """
        found = self.schema(spark)
        for name, kind, has in differing(found, columns) if found is not None else ():
            raise OutputError(
                f"log: a column {name} of type {kind} is needed, and {self.target} {has}; choose "
                "another log and checkpoint"
            )
        return found is not None

    def read(self, spark: SparkSession) -> DataFrame:
        """Return its rows."""
        if self.is_path:
            return spark.read.format(self.sink).load(self.target)
        if self.sink == "iceberg":  # its catalog keeps a snapshot for a while
            spark.catalog.refreshTable(self.target)
        return spark.table(self.target)

    def add(self, rows: DataFrame) -> None:
        """Append rows in one commit."""
        writer = rows.write.format(self.sink).mode("append").options(**log_options(self, rows))
        writer.save(self.target) if self.is_path else writer.saveAsTable(self.target)

    def append(self, rows: DataFrame, query: str, batch: int) -> None:
        """Append rows in one commit; nothing if it has the batch already.

        Args:
            rows: The rows, with the columns of the log.
            query: Distinguishes what numbers the batches.
            batch: Number of the batch.
        """
        _APPENDS[self.sink](self, rows, query, batch)


def _append_delta(place: LogPlace, rows: DataFrame, query: str, batch: int) -> None:
    """Append by a transaction that Delta skips if its log has it.

    https://docs.delta.io/latest/delta-streaming.html#idempotent-table-writes-in-foreachbatch
    """
    writer = rows.write.format("delta").mode("append")
    writer = writer.option("txnAppId", f"changewire-{query}").option("txnVersion", str(batch))
    writer = writer.options(**log_options(place, rows))
    writer.save(place.target) if place.is_path else writer.saveAsTable(place.target)


def _append_iceberg(place: LogPlace, rows: DataFrame, query: str, batch: int) -> None:
    """Append a snapshot, unless the table has one with the batch among its properties.

    https://iceberg.apache.org/docs/latest/spark-configuration/#write-options
    """
    spark, table = rows.sparkSession, place.target
    name, value = f"changewire.{query}", str(batch)
    if spark.catalog.tableExists(table):
        spark.catalog.refreshTable(table)
        snapshots = spark.sql(f"SELECT summary FROM {table}.snapshots")  # noqa: S608 - as SQL has it
        if not snapshots.where(F.col("summary")[name] == value).isEmpty():
            return
    writer = rows.write.format("iceberg").mode("append")
    writer.option(f"snapshot-property.{name}", value).saveAsTable(table)


_APPENDS: Final[Mapping[str, Callable[[LogPlace, DataFrame, str, int], None]]] = {
    "delta": _append_delta,
    "iceberg": _append_iceberg,
}


def check_sink(place: LogPlace) -> LogPlace:
    """Return a log whose format is one that logs can have.

    Raises:
        ValueError: It is not.
    """
    if place.sink not in SINKS:
        raise ValueError(f"no sink {place.sink!r}; there are: {', '.join(SINKS)}")
    return place


def log_options(place: LogPlace, rows: DataFrame) -> dict[str, str]:
    """Return the options of a write that may make a log of some rows.

    Delta takes them for a new table, and leaves one that exists as it is.
    """
    if place.sink != "delta":
        return {}
    names = (name for name in STATISTICS if name.partition(".")[0] in rows.columns)
    return {STATISTICS_OPTION: ",".join(names)}
