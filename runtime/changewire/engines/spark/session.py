"""The Spark session: the caller's, or a local one of our own."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pyspark import __version__ as pyspark_version
from pyspark.sql import SparkSession

from changewire.engines.cuts import BATCH_BYTES
from changewire.engines.errors import StreamError
from changewire.engines.interrupts import handler
from changewire.tested import misfit

if TYPE_CHECKING:
    from pyspark import Accumulator, AccumulatorParam

_T = TypeVar("_T")

_numbering: Final = Lock()

ADAPTIVE: Final = "spark.sql.adaptive.enabled"

_JARS: Final = ("spark.jars.packages", "spark.jars")
"""Settings that name connectors."""

_CONNECT: Final = frozenset({"SPARK_API_MODE", "SPARK_REMOTE"})
"""Variables by which users ask for Spark Connect."""


def session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return the active session, or start a local one that uses the caller's Python.

    Without this, workers would run whatever ``python3`` is first on the path.

    Args:
        settings: Spark's own, for one that is started, like ``spark.jars.packages``; an active
            session keeps its own.

    Raises:
        StreamError: The settings name a connector that is for another Spark.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    given = settings or {}
    _check(pyspark_version, given)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    names = {"spark.master": "local[*]", "spark.app.name": "changewire"}
    every: dict[str, Any] = {**names, **local_settings(), **given}
    interrupts = handler()
    if interrupts is not None and not _CONNECT & set(os.environ):
        # From the first moment on, an interrupt ends the Java process of Spark.
        from pyspark import SparkConf, SparkContext, java_gateway

        conf = SparkConf().setAll([*every.items()])
        interrupts.start(lambda: SparkContext.getOrCreate(conf), java_gateway)
    return SparkSession.builder.config(map=every).getOrCreate()


def check_jars(spark: SparkSession) -> None:
    """Refuse a session whose connectors are for another Spark, whose errors say less."""
    _check(spark.version, {name: spark.conf.get(name, None) or "" for name in _JARS})


def _check(version: str, settings: Mapping[str, str]) -> None:
    text = misfit(version, ",".join(settings.get(name, "") for name in _JARS))
    if text is not None:
        raise StreamError(text)


def local_settings() -> dict[str, str]:
    """Return the settings of a session on this machine alone."""
    cores = str(os.cpu_count() or 1)
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": cores,
        # Tasks for each look at a table of Delta; its own default, 50, is for large logs.
        "spark.databricks.delta.snapshotPartitions": cores,
        # A batch that feeds tables may have more plans than Spark keeps compiled, which are 100.
        "spark.sql.codegen.cache.maxEntries": "1000",
        # PySpark would note the line of the program for each column: 0.4 s for 300 of them.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # What Spark gives a worker at once; its own default is 256 MiB.
        "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
        **TIMES,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }


def is_remote(spark: SparkSession) -> bool:
    """Return whether a session is one of Spark Connect, whose driver is another process."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def accumulator(
    spark: SparkSession, value: _T, param: AccumulatorParam[_T] | None = None
) -> Accumulator[_T]:
    """Return an accumulator of its own, whichever thread asks.

    PySpark numbers accumulators without a lock: two threads may get the same number, and then one
    accumulator gets nothing.
    """
    with _numbering:
        return spark.sparkContext.accumulator(value, param)


TIMES: Final = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
"""How times are written: INT96, Spark's default, has no zone, and readers that take it for
nanoseconds, as delta-rs does, know it from 1677 to 2262 only."""

INTERPRETED: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings of a query whose literals change with each batch.

Spark's generated code contains them: compiling it takes longer than interpreting some rows."""


@contextmanager
def changed(
    spark: SparkSession, values: Mapping[str, str], *others: str
) -> Generator[None, None, None]:
    """Set settings of a session meanwhile, then restore them and others that are named."""
    was = {name: spark.conf.get(name, None) for name in (*values, *others)}
    try:
        for name, value in values.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, earlier in was.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)
