"""Decoding in Spark beside `from_json`, and beside Python workers that do nothing."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import changewire.spark as cws
from benchmarks import by_hand, topics
from benchmarks.tables import Result
from benchmarks.timing import Timing

FROM_JSON, IDENTITY, OURS = "from_json", "identity mapInArrow", "changewire"
BY_HAND = "from_json to the same rows"

FILES = 4
WARM_UP = 2
"""Rounds that only warm the JVM up."""


OPTIONS: Mapping[str, dict[str, Any]] = {"lindorm-json": {"keys": ["id"]}}
"""What the messages of a format do not say themselves."""


def run(*, count: int, rounds: int) -> Iterator[Result]:
    """Yield for each format the table of jobs over a Parquet file, to Spark's noop sink.

    Args:
        count: Messages of each format.
        rounds: How often each job is timed.
    """
    with tempfile.TemporaryDirectory() as folder, _session() as spark:
        for form in by_hand.ROWS:
            path = Path(folder, form)
            _write(topics.table(form, count), path)
            jobs = _jobs(spark.read.parquet(str(path)), form)
            found: dict[str, list[float]] = {name: [] for name in jobs}
            for _ in range(WARM_UP + rounds):
                for name, job in jobs.items():
                    found[name].append(_seconds(job))
            timings = {name: Timing(tuple(each[WARM_UP:])) for name, each in found.items()}
            yield _result(form, timings, count)


def _write(table: Any, folder: Path) -> None:
    """Write files of one size, which Spark reads in partitions of one size."""
    folder.mkdir()
    size = -(-len(table) // FILES)
    for i in range(FILES):
        pq.write_table(table.slice(i * size, size), folder / f"part-{i}.parquet")


def _result(format: str, timings: Mapping[str, Timing], count: int) -> Result:
    rows = []
    for name, timing in timings.items():
        ratio, low, high = _rate(timing, timings[BY_HAND])
        rate = count / median(timing.rounds) / 1000
        each = (
            f"{median(timing.rounds):.2f}",
            f"{rate:.0f}",
            f"{ratio:.2f}",
            f"{low:.2f}-{high:.2f}",
        )
        rows.append((name, *each))
    found = _rate(timings[OURS], timings[BY_HAND])[0]
    word = "reached" if found >= 1 else "missed"
    text = f"To reach: at least the rate of {BY_HAND}. Found {found:.2f} of it: {word}."
    text += f" Beside from_json alone: {_rate(timings[OURS], timings[FROM_JSON])[0]:.2f}."
    head = ("", "median, s", "1000 messages/s", f"rate to {BY_HAND}", "spread over rounds")
    data = {"seconds": {name: timing.rounds for name, timing in timings.items()}}
    return Result(f"{format}: decode {count} messages in Spark, 2 cores", head, rows, text, data)


def _rate(mine: Timing, theirs: Timing) -> tuple[float, float, float]:
    """Return the median of the ratios of rates in each round, the least and the largest."""
    each = [their / my for my, their in zip(mine.rounds, theirs.rounds, strict=True)]
    return median(each), min(each), max(each)


def _jobs(frame: DataFrame, format: str) -> dict[str, Callable[[], DataFrame]]:
    options = OPTIONS.get(format, {})
    return {
        FROM_JSON: lambda: by_hand.PARSED[format](frame),
        BY_HAND: lambda: by_hand.ROWS[format](frame),
        IDENTITY: lambda: frame.mapInArrow(_same, frame.schema),
        OURS: lambda: cws.decode(frame, format=format, **options).rows,
    }


def _same(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _seconds(job: Callable[[], DataFrame]) -> float:
    start = time.perf_counter()
    job().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def _session() -> SparkSession:
    """Start a session of two cores whose workers run this Python."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]").appName("benchmarks")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
