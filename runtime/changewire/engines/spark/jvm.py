"""What is asked of Spark's JVM itself, if it belongs to this process: not over Spark Connect.

It is asked for what costs a job otherwise, and whoever asks has another way if there is no answer.
"""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from threading import Lock
from typing import Any, Final

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from changewire.engines.spark.session import is_remote


def _raised() -> tuple[type[Exception], ...]:
    """Return what Spark raises; a client of Spark Connect need not have Py4J."""
    if find_spec("py4j") is None:
        return (PySparkException,)
    from py4j.protocol import Py4JError

    return (PySparkException, Py4JError)


RAISED: Final = _raised()
"""Errors of PySpark's own, and those of Java that it does not wrap."""

_UNKNOWN: Final[tuple[type[Exception], ...]] = (*RAISED, TypeError)
"""What is raised where a release of Delta has no such class, or the class no such function."""

_PATH: Final = re.compile("delta[.]`(.*)`", re.DOTALL)
"""A path, as SQL names the table there."""

_one_at_a_time: Final = Lock()


def log_size(spark: SparkSession, table: str) -> int | None:
    """Return the bytes of a Delta table as this process knows it, without a job; 0 without it."""
    snapshot = _snapshot(spark, table)
    try:
        if snapshot is None:
            return None
        if int(snapshot.version()) < 0:
            return 0
        checksum = snapshot.checksumOpt()
        return int(checksum.get().tableSizeBytes()) if checksum.isDefined() else None
    except _UNKNOWN:
        return None


def table_metadata(spark: SparkSession, table: str) -> dict[str, Any] | None:
    """Return the metadata of a Delta table as in its log, without a job; None if unknown."""
    snapshot = _snapshot(spark, table)
    try:
        text = None if snapshot is None else snapshot.metadata().json()
    except _UNKNOWN:
        return None
    found: dict[str, Any] | None = None if text is None else json.loads(text)["metaData"]
    return found


def _snapshot(spark: SparkSession, table: str) -> Any | None:
    """Return the snapshot of a Delta table that this process read last; None if unknown."""
    if is_remote(spark):
        return None
    hidden: Any = spark
    jvm, session = hidden._jvm, hidden._jsparkSession  # noqa: SLF001 - there are no public names
    path = _PATH.fullmatch(table)
    try:
        # Whole names of classes: asked for one part after another, Java looks for each in all jars.
        if path is None:
            log = getattr(jvm, "io.delta.tables.DeltaTable").forName(session, table).deltaLog()
        else:  # a quarter of the time
            log = getattr(jvm, "org.apache.spark.sql.delta.DeltaLog")
            log = log.forTable(session, path[1].replace("``", "`"))
        return log.unsafeVolatileSnapshot()
    except _UNKNOWN:
        return None


def cloned_session(spark: SparkSession) -> SparkSession | None:
    """Return a session with the settings, catalogs and views of another one; None over Connect."""
    if is_remote(spark):
        return None
    hidden: Any = spark
    try:
        copy = hidden._jsparkSession.cloneSession()  # noqa: SLF001 - there is no public name
        return SparkSession(spark.sparkContext, copy)
    except _UNKNOWN:
        return None


def source_rows(merged: DataFrame) -> int | None:
    """Return how many rows a MERGE of Delta was given, by what it returned; None if unknown."""
    if is_remote(merged.sparkSession):
        return None
    hidden: Any = merged
    plan = hidden._jdf  # noqa: SLF001 - there is no public name
    try:
        metrics = plan.queryExecution().commandExecuted().commandPhysicalPlan().metrics()
        return int(metrics.get("numSourceRows").get().value())
    except _UNKNOWN:
        return None


def free_rows(kept: DataFrame) -> None:
    """Free the rows of `DataFrame.localCheckpoint`, which Spark keeps until Java collects them.

    Over Spark Connect the server frees them if the DataFrame is gone.
    """
    if is_remote(kept.sparkSession):
        return
    hidden: Any = kept
    plan = hidden._jdf.queryExecution().analyzed()  # noqa: SLF001 - there is no public name
    try:
        plan.rdd().unpersist(False)  # noqa: FBT003 - of Java: without waiting
    except _UNKNOWN:
        return


def last_progress(query: Any) -> str | None:
    """Return what Spark reported last of a query, as its JSON; None if there is nothing yet.

    `StreamingQuery.lastProgress` reads the maps of a report by py4j, whose iterators end by an
    error, and for each of these errors Java looks for some hundred classes in all jars.
    """
    of_jvm = getattr(query, "_jsq", None)
    last = query.lastProgress if of_jvm is None else of_jvm.lastProgress()
    if last is None:
        return None
    return str(last.json if of_jvm is None else last.json())


def local_rows(spark: SparkSession, rows: pa.Table, kind: StructType) -> DataFrame:
    """Return rows of the driver as a DataFrame, which is part of the plans that it is used in.

    PySpark takes its session for the active one from then on, in all threads; here it does not.
    """
    sessions: Any = SparkSession
    with _one_at_a_time:
        active = sessions._activeSession  # noqa: SLF001 - there is no public name
        try:
            return spark.createDataFrame(rows, kind)
        finally:
            sessions._activeSession = active  # noqa: SLF001 - as above
