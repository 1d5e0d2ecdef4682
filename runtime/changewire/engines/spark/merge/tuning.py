"""How Spark runs the queries of a batch: settings of the session that a stream has for itself."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from pyspark.sql import SparkSession

from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.session import ADAPTIVE, TIMES, changed, is_remote

SHUFFLE: Final = "spark.sql.shuffle.partitions"
SNAPSHOT: Final = "spark.databricks.delta.snapshotPartitions"
_SETTINGS: Final = {
    # Names of columns are in SQL text, where they are quoted and mean nothing else.
    "spark.sql.variable.substitute": "false",
    # Plans of batches take longer with it than they gain.
    ADAPTIVE: "false",
    **TIMES,
}
_CHANGES: Final = 10_000
_BYTES: Final = 2**24
"""Changes, and bytes of the files of a table, for which a partition of a shuffle is enough."""

_FEWEST: Final = 8
_MOST: Final = 50
"""Tasks that read the log of a Delta table at least, and at most; 50 is its own default."""


@contextmanager
def batch_settings(spark: SparkSession) -> Generator[int, None, None]:
    """Give a session the settings that batches have, and then those that it had.

    Yields the partitions that shuffles may have.

    Spark keeps the partitions of the shuffles of a stream in its checkpoint.
    """
    with changed(spark, _SETTINGS, SNAPSHOT, SHUFFLE):
        most = int(str(spark.conf.get(SHUFFLE)))
        if not is_remote(spark):
            if spark.conf.get(SNAPSHOT, None) is None:
                tasks = min(_MOST, max(_FEWEST, spark.sparkContext.defaultParallelism))
                spark.conf.set(SNAPSHOT, str(tasks))
            spark.conf.set(SHUFFLE, str(min(spark.sparkContext.defaultParallelism, most)))
        yield most


def limit_partitions(spark: SparkSession, changes: int, table: SparkTable, most: int) -> None:
    """Let shuffles have no more partitions than the MERGE of a table needs.

    Each partition is a task, and a file of the table; a table of unknown size takes the most. For
    use within `batch_settings`.
    """
    if is_remote(spark):
        return
    size = table.format.size(spark, table.target)
    needed = most if size is None else max(changes // _CHANGES, size // _BYTES)
    enough = max(needed, spark.sparkContext.defaultParallelism)
    spark.conf.set(SHUFFLE, str(min(enough, most)))
