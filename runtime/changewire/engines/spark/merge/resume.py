"""The version of a log that a query on it has applied, by the checkpoint of the query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.log import ATTEMPT, REFUSED
from changewire.engines.spark.log.place import LogPlace, completed
from changewire.engines.spark.python import check_python

PROGRESS: Final = "tables"
"""Name in a checkpoint of Spark's own checkpoint of the query on the log."""

_OPTIONS: Final = {"delta": "versionAsOf", "iceberg": "snapshot-id"}
"""Options that read a table as it was."""


def log_of_tables(spark: SparkSession, log: LogPlace, checkpoint: str) -> DataFrame:
    """Return the log as far as the tables of a query have it, with all refusals and replays.

    It is the whole log if the checkpoint has no batch.
    """
    whole, progress = log.read(spark), f"{checkpoint}/{PROGRESS}"
    found = applied_log(spark, log, progress, next_batch(spark, progress))
    if found is None:
        return whole
    # Why a change is refused is appended after its batch.
    # What is refused, and what a replay merged and appended, is in later versions.
    is_later = (F.col("kind") == REFUSED) | (F.col(ATTEMPT) > 0)
    return found.where(~is_later).unionByName(whole.where(is_later))


def next_batch(spark: SparkSession, progress: str) -> int:
    """Return the number of the batch that comes next, by a query's own checkpoint."""
    try:
        commits = spark.read.text(f"{progress}/commits").select("_metadata.file_name")
        batches = [int(one["file_name"]) for one in commits.distinct().collect()]
    except AnalysisException:
        return 0
    return max(batches, default=-1) + 1


def applied_log(spark: SparkSession, log: LogPlace, progress: str, batch: int) -> DataFrame | None:
    """Return the log at the version that the last batch of a query ended in; None before a batch.

    A batch may end within a commit. Then the rows of the whole commit are returned.

    Args:
        spark: The session.
        log: The log.
        progress: Folder of the checkpoint of the query on the log.
        batch: Number of the batch that comes next.
    """
    if batch == 0:
        return None
    lines = spark.read.text(f"{progress}/offsets/{batch - 1}", wholetext=True).collect()
    offset = msgspec.json.decode(lines[0]["value"].splitlines()[-1])
    version = _VERSIONS[log.table_format](offset)
    if version is None:
        return None
    check_python(spark)
    reader = spark.read.format(log.table_format).option(_OPTIONS[log.table_format], version)
    return completed(reader.load(log.target) if log.is_path else reader.table(log.target))


def _version(offset: Mapping[str, Any]) -> int | None:
    """Return the version of a Delta table that an offset of its source is in.

    An index below 0 is before the first file of a version, see ``DeltaSourceOffset`` of Delta.
    """
    version = int(offset["reservoirVersion"])
    version -= int(offset["index"]) < 0
    return None if version < 0 else version


def _snapshot(offset: Mapping[str, Any]) -> int | None:
    """Return the snapshot of an Iceberg table that an offset of its source is in."""
    found = int(offset["snapshot_id"])
    return None if found < 0 else found


_VERSIONS: Final = {"delta": _version, "iceberg": _snapshot}
