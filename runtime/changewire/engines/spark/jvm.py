"""What is asked of Spark's JVM itself, where it is one of this process: not over Spark Connect.

It is asked for what costs a job otherwise, and whoever asks has another way if there is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from pyspark.sql import SparkSession

from changewire.engines.spark.raised import RAISED
from changewire.engines.spark.session import is_remote

_UNKNOWN: Final[tuple[type[Exception], ...]] = (*RAISED, TypeError)
"""What is raised where the JVM has no such class, or the class no such function."""

_PATH: Final = re.compile("delta[.]`(.*)`", re.DOTALL)
"""A path, as SQL names the table there."""

# Whole names of classes: asked for one part after another, Java looks for each in all jars.
_DELTA_LOG: Final = "org.apache.spark.sql.delta.DeltaLog"
_DELTA_TABLE: Final = "io.delta.tables.DeltaTable"
_SESSION: Final = "org.apache.spark.sql.SparkSession"

_one_at_a_time: Final = Lock()


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


def _log(spark: SparkSession, table: str) -> Any:
    """Return Delta's object for the log of a table."""
    path = _PATH.fullmatch(table)
    jvm, session = _jvm_of(spark)
    if path is None:
        return getattr(jvm, _DELTA_TABLE).forName(session, table).deltaLog()
    # A quarter of the time.
    return getattr(jvm, _DELTA_LOG).forTable(session, path[1].replace("``", "`"))


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
