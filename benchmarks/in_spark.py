"""Decoding in Spark beside `from_json`, and beside Python workers that decode nothing."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import changewire.spark as cws
from benchmarks import by_hand, topics
from benchmarks.tables import Result
from benchmarks.timing import Timing
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.cuts import combined
from changewire.engines.decode import Decoder
from changewire.engines.spark.types import ROWS

FROM_JSON, IDENTITY, OURS = "from_json", "identity mapInArrow", "changewire"
BY_HAND, MADE = "from_json to the same rows", "rows made beforehand"
LEAST: Mapping[str, tuple[tuple[str, float], ...]] = {
    "aerospike-json": ((BY_HAND, 3.3), (FROM_JSON, 1.4), (MADE, 0.85)),
    "dataworks-json": ((BY_HAND, 3.0), (FROM_JSON, 1.5), (MADE, 0.85)),
    "lindorm-json": ((BY_HAND, 1.9), (FROM_JSON, 1.2), (MADE, 0.85)),
    topics.WITH_SCHEMA: ((BY_HAND, 2.0), (FROM_JSON, 1.2), (MADE, 0.85)),
}
"""Rates of other jobs that are to be reached."""

FILES = 4
SENT = 10_000
"""Messages that Spark sends to a worker at a time by default."""
WARM_UP = 2
"""Rounds that only warm the JVM up."""


def run(*, count: int, rounds: int) -> Iterator[Result]:
    """Yield for each topic the table of jobs over a Parquet file, to Spark's noop sink.

    Args:
        count: Messages of each topic.
        rounds: How often each job is timed.
    """
    with tempfile.TemporaryDirectory() as folder, _session() as spark:
        for number, topic in enumerate(by_hand.ROWS):
            path, made = Path(folder, f"messages-{number}"), Path(folder, f"rows-{number}.arrow")
            messages = topics.table(topic, count)
            _write(messages, path)
            _make(messages, options_of(topic), made)
            jobs = _jobs(spark.read.parquet(str(path)), topic, made)
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
            for _ in range(WARM_UP + rounds):
                for name, job in jobs.items():
                    found[name].append(_seconds(job))
            timed = {name: [*zip(*each[WARM_UP:], strict=True)] for name, each in found.items()}
            wall = {name: Timing(seconds) for name, (seconds, _) in timed.items()}
            yield _result(topic, wall, {name: cpu for name, (_, cpu) in timed.items()}, count)


def options_of(topic: str) -> DecodeOptions:
    """Return how the messages of a topic are decoded."""
    keys = ["id"] if topic.startswith("lindorm") else None
    return DecodeOptions(topics.format_of(topic), key_columns=keys)


def _write(table: Any, folder: Path) -> None:
    """Write files of one size, which Spark reads in partitions of one size."""
    folder.mkdir()
    size = -(-len(table) // FILES)
    for i in range(FILES):
        pq.write_table(table.slice(i * size, size), folder / f"part-{i}.parquet")


def _result(
    topic: str, wall: Mapping[str, Timing], cpu: Mapping[str, Sequence[float]], count: int
) -> Result:
    rows = []
    for name, timing in wall.items():
        ratio, low, high = _rate(timing, wall[BY_HAND])
        rate = count / median(timing.rounds) / 1000
        each = (
            f"{median(timing.rounds):.2f}",
            f"{rate:.0f}",
            f"{ratio:.2f}",
            f"{low:.2f}-{high:.2f}",
            f"{median(cpu[name]) / count * 1e6:.1f}",
        )
        rows.append((name, *each))
    texts = []
    for other, least in LEAST[topic]:
        found = _rate(wall[OURS], wall[other])[0]
        word = "reached" if found >= least else "missed"
        texts.append(f"To reach: {least} times the rate of {other}. Found {found:.2f}: {word}.")
    head = (
        *("", "median, s", "1000 messages/s", f"rate to {BY_HAND}", "spread over rounds"),
        "CPU time, µs a message",
    )
    seconds = {name: timing.rounds for name, timing in wall.items()}
    data = {"base": BY_HAND, "seconds": seconds, "cpu": dict(cpu)}
    title = f"{topic}: decode {count} messages in Spark, 2 cores"
    return Result(title, head, rows, " ".join(texts), data)


def _rate(mine: Timing, theirs: Timing) -> tuple[float, float, float]:
    """Return the median of the ratios of rates in each round, the least and the largest."""
    each = [their / my for my, their in zip(mine.rounds, theirs.rounds, strict=True)]
    return median(each), min(each), max(each)


def _jobs(frame: DataFrame, topic: str, made: Path) -> dict[str, Callable[[], DataFrame]]:
    options = options_of(topic)
    return {
        FROM_JSON: lambda: by_hand.PARSED[topic](frame),
        BY_HAND: lambda: by_hand.ROWS[topic](frame),
        IDENTITY: lambda: frame.mapInArrow(_same, frame.schema),
        MADE: lambda: frame.mapInArrow(partial(_made, str(made)), ROWS),
        OURS: lambda: (
            cws.decode(frame, format=options.format, key_columns=options.key_columns).rows
        ),
    }


def _same(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _made(file: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield for each batch as many rows, of a file: what is left if decoding costs nothing."""
    with pa.memory_map(file) as source:
        rows = pa.ipc.open_file(source).get_batch(0)
        for batch in batches:
            yield rows.slice(0, len(batch))


def _make(messages: pa.Table, options: DecodeOptions, file: Path) -> None:
    """Write the rows of as many messages as Spark sends to a worker at a time."""
    (batch,) = messages.slice(0, SENT).combine_chunks().to_batches()
    rows = combined([*Decoder(options)(batch)])
    with pa.ipc.new_file(str(file), rows.schema) as writer:
        writer.write_batch(rows)


def _seconds(job: Callable[[], DataFrame]) -> tuple[float, float]:
    """Return how long a job takes, and the CPU time of the JVM and of its workers."""
    start, cpu = time.perf_counter(), _cpu_seconds()
    job().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start, _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    """Return the CPU time of all processes that this one started, and of those that they did."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:4])
    return total


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
