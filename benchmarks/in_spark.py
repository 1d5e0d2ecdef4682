"""Decoding in Spark beside `from_json`, and beside Python workers that do nothing."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import changewire.spark as cws
from benchmarks import by_hand, messages
from benchmarks.tables import Result
from benchmarks.timing import Timing

FROM_JSON, IDENTITY, OURS = "from_json", "identity mapInArrow", "changewire"
BY_HAND = "from_json to the same rows"

WARM_UP = 2
"""Rounds that only warm the JVM up."""


def run(*, count: int, rounds: int) -> Iterator[Result]:
    """Yield the table of jobs over the same messages in a Parquet file, to Spark's noop sink.

    Args:
        count: Messages.
        rounds: How often each job is timed.
    """
    with tempfile.TemporaryDirectory() as folder, _session() as spark:
        path = str(Path(folder, "messages.parquet"))
        pq.write_table(table(count), path, row_group_size=count // 4)
        frame = spark.read.parquet(path)
        found: dict[str, list[float]] = {name: [] for name in _jobs(frame)}
        for _ in range(WARM_UP + rounds):
            for name, job in _jobs(frame).items():
                found[name].append(_seconds(job))
    yield _result({name: Timing(tuple(each[WARM_UP:])) for name, each in found.items()}, count)


def _result(timings: dict[str, Timing], count: int) -> Result:
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
    return Result(f"Decode {count} messages in Spark, 2 cores", head, rows, text, data)


def _rate(mine: Timing, theirs: Timing) -> tuple[float, float, float]:
    """Return the median of the ratios of rates in each round, the least and the largest."""
    each = [their / my for my, their in zip(mine.rounds, theirs.rounds, strict=True)]
    return median(each), min(each), max(each)


def _jobs(frame: DataFrame) -> dict[str, Callable[[], DataFrame]]:
    return {
        FROM_JSON: lambda: by_hand.parsed(frame),
        BY_HAND: lambda: by_hand.rows(frame),
        IDENTITY: lambda: frame.mapInArrow(_same, frame.schema),
        OURS: lambda: cws.decode(frame, format=messages.FORMAT).rows,
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


def table(count: int) -> Any:
    """Return messages of about 0.4 KB: nine writes to a delete, each with its own values."""
    random = Random(1)
    delete = messages.schema("delete")["examples"][0]
    lines = []
    for i in range(count):
        if random.randrange(10) == 0:
            lines.append(messages.wire({**delete, "lut": 1617167159548 + i}))
            continue
        write = messages.small()
        visits = {"name": "visits", "type": "int", "value": random.randrange(2**40)}
        bins = [*write["bins"][: random.randrange(1, 4)], visits]
        lines.append(messages.wire({**write, "lut": 1617167159548 + i, "bins": bins}))
    return pa.table({"value": pa.array(lines, pa.binary())})
