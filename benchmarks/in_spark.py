"""Decoding in Spark beside `from_json`, and beside Python workers that do nothing."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

import changewire.spark as cws
from benchmarks import messages
from benchmarks.tables import Result
from benchmarks.timing import Timing

_ROW = (
    "msg string, key array<string>, gen int, exp long, lut long, durable boolean, "
    "bins array<struct<name: string, type: string, value: string>>"
)
FROM_JSON, IDENTITY, OURS = "from_json", "identity mapInArrow", "changewire"
SAME = "from_json to the same columns"


def run(*, count: int, rounds: int) -> Iterator[Result]:
    """Yield the table of jobs over the same messages in a Parquet file, to Spark's noop sink.

    Args:
        count: Messages.
        rounds: How often each job runs; the first ones warm the JVM up.
    """
    with tempfile.TemporaryDirectory() as folder, _session() as spark:
        path = str(Path(folder, "messages.parquet"))
        pq.write_table(_table(count), path, row_group_size=count // 4)
        frame = spark.read.parquet(path)
        found: dict[str, list[float]] = {name: [] for name in _jobs(frame)}
        for _ in range(rounds):
            for name, job in _jobs(frame).items():
                found[name].append(_seconds(job))
    yield _result({name: Timing(tuple(each)) for name, each in found.items()}, count)


def _result(timings: dict[str, Timing], count: int) -> Result:
    rows = []
    for name, timing in timings.items():
        rate = count / timing.best / 1000
        speed, low, high = timings[FROM_JSON].ratio(timing)
        rows.append(
            (name, f"{timing.best:.2f}", f"{rate:.0f}", f"{speed:.2f}", f"{low:.2f}-{high:.2f}")
        )
    speed = timings[FROM_JSON].best / timings[OURS].best
    word = "reached" if speed >= 1 else "missed"
    text = f"To reach: at least the rate of from_json. Found {speed:.2f} of it: {word}."
    text += f" Beside from_json to the same columns: {timings[SAME].best / timings[OURS].best:.2f}."
    head = ("", "s", "1000 messages/s", "rate to from_json", "spread over rounds")
    data = {"seconds": {name: timing.rounds for name, timing in timings.items()}}
    return Result(f"Decode {count} messages in Spark, 2 cores", head, rows, text, data)


def _jobs(frame: DataFrame) -> dict[str, Callable[[], DataFrame]]:
    return {
        FROM_JSON: lambda: _parsed(frame),
        SAME: lambda: _same_columns(frame),
        IDENTITY: lambda: frame.mapInArrow(_same, frame.schema),
        OURS: lambda: cws.decode(frame, format=messages.FORMAT).rows,
    }


def _parsed(frame: DataFrame) -> DataFrame:
    return frame.select("value", F.from_json(F.col("value").cast("string"), _ROW).alias("row"))


def _same_columns(frame: DataFrame) -> DataFrame:
    """Make what a hand-written job would need to get to a change; it validates nothing."""
    key = F.col("row.key")
    is_write = F.col("row.msg") == "write"
    after = F.map_from_entries(F.transform("row.bins", lambda b: F.struct(b["name"], b["value"])))
    attributes = F.struct(key[1], key[3], "row.gen", "row.exp", "row.lut", "row.durable")
    return _parsed(frame).select(
        F.when(is_write, "upsert").otherwise("delete").alias("op"),
        F.struct(key[0].alias("database"), key[1].alias("table")).alias("source"),
        F.to_json(F.struct(key[2].alias("aerospike_digest"))).alias("key"),
        F.when(is_write, F.to_json(after)).alias("after"),
        F.timestamp_millis("row.lut").alias("event_time"),
        F.struct("row.lut", "row.gen").alias("sequence"),
        F.to_json(attributes).alias("attributes"),
    )


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


def _table(count: int) -> Any:
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
