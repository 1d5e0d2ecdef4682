"""What is asked of Spark's JVM itself, where it is one of this process: not over Spark Connect.

It is asked for what costs a job otherwise, and whoever asks has another way if there is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from changewire.engines.spark.raised import RAISED
from changewire.engines.spark.session import is_remote

_UNKNOWN: Final[tuple[type[Exception], ...]] = (*RAISED, TypeError)
"""What is raised where the JVM has no such class, or the class no such function."""

_PATH: Final = re.compile("delta[.]`(.*)`", re.DOTALL)
"""A path, as SQL names the table there."""

# Whole names of classes: asked for one part after another, Java looks for each in all jars.
_DELTA_LOG: Final = "org.apache.spark.sql.delta.DeltaLog"
_DELTA_TABLE: Final = "io.delta.tables.DeltaTable"
_ICEBERG: Final = "org.apache.iceberg.spark.Spark3Util"
_HADOOP_PATH: Final = "org.apache.hadoop.fs.Path"
_SESSION: Final = "org.apache.spark.sql.SparkSession"

_one_at_a_time: Final = Lock()

_ARGUMENTS: Final = (1, 2, 3)
"""Of the function by which Delta reads the newest version of a log; each has a default."""


class LogVersion(NamedTuple):
    """The version of a Delta table.

    Attributes:
        number: The version.
        table: Id of the table, which another one at its place does not have.
    """

    number: int
    table: str


def log_version(spark: SparkSession, table: str) -> LogVersion | None:
    """Return the version that a Delta table has now; None if that cannot be known here."""
    if is_remote(spark):
        return None
    try:
        log = _log(spark, table)
        defaults = [getattr(log, f"update$default${number}")() for number in _ARGUMENTS]
        snapshot = log.update(*defaults)
        number = int(snapshot.version())
        return None if number < 0 else LogVersion(number, str(snapshot.metadata().id()))
    except _UNKNOWN:  # another release of Delta, or a table that is not there
        return None


def log_size(spark: SparkSession, table: str) -> int | None:
    """Return the bytes of the files of a Delta table, as this process knows it; 0 without it.

    None if that cannot be known without a job.
    """
    if is_remote(spark):
        return None
    try:
        snapshot = _log(spark, table).unsafeVolatileSnapshot()
        if int(snapshot.version()) < 0:
            return 0
        checksum = snapshot.checksumOpt()
        return int(checksum.get().tableSizeBytes()) if checksum.isDefined() else None
    except _UNKNOWN:  # another release of Delta
        return None


def create_delta(
    spark: SparkSession, table: str, columns: StructType, properties: Mapping[str, str]
) -> bool:
    """Make a Delta table without a job; the metadata of its columns is kept, which SQL has not.

    Args:
        spark: The session.
        table: The table, as SQL names it.
        columns: Its columns.
        properties: Its properties.

    Returns:
        Whether it was made; `False` if that cannot be done here.

    Raises:
        AnalysisException: The table is there, or Delta refuses to make it.
    """
    path = _PATH.fullmatch(table)
    if is_remote(spark) or (path is not None and "`" in path[1]):  # Delta does not quote a path
        return False
    jvm, session = _jvm_of(spark)
    try:
        builder = getattr(jvm, _DELTA_TABLE).create(session)
        builder = builder.tableName(table) if path is None else builder.location(path[1])
        builder = builder.addColumns(session.parseDataType(columns.json()))
        for name, text in properties.items():
            builder = builder.property(name, text)
    except _UNKNOWN:  # another release of Delta
        return False
    builder.execute()
    return True


def _log(spark: SparkSession, table: str) -> Any:
    """Return Delta's object for the log of a table."""
    path = _PATH.fullmatch(table)
    jvm, session = _jvm_of(spark)
    if path is None:
        return getattr(jvm, _DELTA_TABLE).forName(session, table).deltaLog()
    # A quarter of the time.
    return getattr(jvm, _DELTA_LOG).forTable(session, path[1].replace("``", "`"))


class MetadataVersion(NamedTuple):
    """The version of an Iceberg table: every commit, also one of properties, writes such a file.

    Attributes:
        file: The table's metadata file.
        before: The one that it took the place of; None for the first one.
        snapshot: The snapshot that the table has; None if it has none yet.
        size: Bytes of its files; None if that is not known.
    """

    file: str
    before: str | None
    snapshot: int | None
    size: int | None


def metadata_version(spark: SparkSession, table: str) -> MetadataVersion | None:
    """Return the version that an Iceberg table has now; None if that cannot be known here."""
    if is_remote(spark):
        return None
    try:
        jvm, session = _jvm_of(spark)
        found = getattr(jvm, _ICEBERG).loadIcebergTable(session, table)
        found.refresh()
        metadata = found.operations().current()
        earlier, snapshot = metadata.previousFiles(), metadata.currentSnapshot()
        before = earlier.get(earlier.size() - 1).file() if earlier.size() else None
        if snapshot is None:
            return MetadataVersion(metadata.metadataFileLocation(), before, None, 0)
        size = snapshot.summary().get("total-files-size")
        size = None if size is None else int(size)
        return MetadataVersion(
            metadata.metadataFileLocation(), before, int(snapshot.snapshotId()), size
        )
    except _UNKNOWN:  # another release of Iceberg, or a table that is not there
        return None


def listing(spark: SparkSession, folder: str) -> frozenset[tuple[str, int]] | None:
    """Return what a folder holds, none if it is not there: names, and when they were changed.

    None if that cannot be known here.
    """
    if is_remote(spark):
        return None
    try:
        jvm, session = _jvm_of(spark)
        path = getattr(jvm, _HADOOP_PATH)(folder)
        system = path.getFileSystem(session.sessionState().newHadoopConf())
        found = system.listStatus(path) if system.exists(path) else ()
        return frozenset((one.getPath().getName(), one.getModificationTime()) for one in found)
    except _UNKNOWN:
        return None


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


@contextmanager
def same_session(spark: SparkSession) -> Generator[None, None, None]:
    """Let the active session stay as it is: PySpark sets it where DataFrames are made of rows."""
    if is_remote(spark):
        yield
        return
    sessions: Any = SparkSession
    of_jvm = getattr(_jvm_of(spark)[0], _SESSION)
    with _one_at_a_time:  # threads share what PySpark takes for the active session
        known = sessions._activeSession  # noqa: SLF001
        active = of_jvm.getActiveSession()  # PySpark's own may make another object
        try:
            yield
        finally:
            sessions._activeSession = known  # noqa: SLF001
            if active.isDefined():
                of_jvm.setActiveSession(active.get())
            else:
                of_jvm.clearActiveSession()


def _jvm_of(spark: Any) -> tuple[Any, Any]:
    """Return the JVM and its own session; PySpark has no public names for them."""
    return spark._jvm, spark._jsparkSession  # noqa: SLF001
