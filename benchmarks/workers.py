"""Memory of Spark's Python workers and of its JVM, while messages of any shape are decoded."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import psutil
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

import changewire.spark as cws
from benchmarks import messages
from benchmarks.tables import Result

_MB: Final = 2**20
_SPARK_DEFAULT: Final = "256m"
_SETTING: Final = "spark.sql.execution.arrow.maxBytesPerBatch"
_SECONDS: Final = 0.02


def run(*, large: int) -> Iterator[Result]:
    """Yield the table of peak memory by shape of the messages.

    Args:
        large: How many messages of 1 MB are decoded.
    """
    rows: list[tuple[str, ...]] = []
    for setting in (None, _SPARK_DEFAULT):
        session = cws.session(
            {"spark.driver.memory": "3g", **({_SETTING: setting} if setting else {})}
        )
        with session as spark:
            for shape, (value, count) in _shapes(large).items():
                seconds, worker, jvm = _measured(spark, value, count)
                size = spark.conf.get(_SETTING)
                figures = (f"{worker / _MB:.0f}", f"{jvm / _MB:.0f}", f"{seconds:.1f}")
                rows.append((f"{count} {shape}", str(size), *figures))
    head = ("messages", _SETTING, "worker, MB", "JVM, MB", "seconds")
    text = "To reach: a worker's memory depends on the setting, and not on the messages."
    yield Result("Peak memory while Spark decodes", head, rows, text, {"rows": rows})


def _shapes(large: int) -> dict[str, tuple[Column, int]]:
    """Return the value of a message of each shape, and how many of them are decoded."""
    message = messages.wire(messages.large()).decode()
    padding = F.repeat(F.lit(" "), _MB)
    array = F.concat(
        F.lit("["), F.repeat(F.lit(f"{message},"), _MB // len(message)), F.lit(f"{message}]")
    )
    refused = json.dumps({"msg": "write"})
    return {
        "small messages": (F.lit(message), large * 1000),
        "messages of 1 MB": (F.concat(F.lit(message), padding), large),
        "messages of many elements": (array, large // 10),
        "messages of 500 dead letters": (
            F.concat(
                F.lit("["), F.repeat(F.lit(f"{refused},"), 499), F.lit(refused), padding, F.lit("]")
            ),
            large // 100,
        ),
    }


def _measured(spark: SparkSession, value: Column, count: int) -> tuple[float, int, int]:
    """Return seconds, and the most bytes that a worker and the JVM had."""
    frame = spark.range(0, count, 1, 1).select(value.cast("binary").alias("value"))
    rows = cws.decode(frame, format=messages.FORMAT).rows
    peaks = {"worker": 0, "jvm": 0}
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(peaks, done))
    watch.start()
    start = time.perf_counter()
    try:
        rows.write.format("noop").mode("overwrite").save()
    finally:
        done.set()
        watch.join()
    return time.perf_counter() - start, peaks["worker"], peaks["jvm"]


def _watch(peaks: dict[str, int], done: threading.Event) -> None:
    while not done.wait(_SECONDS):
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                kind = "jvm" if "java" in process.name() else "worker"
                peaks[kind] = max(peaks[kind], process.memory_info().rss)
