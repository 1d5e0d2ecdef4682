"""One job, as a program of its own: a warm-up, then the query, timed from its start to its end."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from pyspark.sql import SparkSession
from tests.support.session import settings

import changewire.spark as cws
from benchmarks.cpu import cpu_seconds
from benchmarks.streams import local
from benchmarks.streams.done import Batch, Done, Took, say
from benchmarks.streams.history import PARTITIONS
from benchmarks.streams.jobs import JOBS, LOCAL, Job
from benchmarks.streams.seeds import seed
from changewire.engines.spark.log.place import STREAMED

SETTINGS: Final = {
    "spark.driver.memory": "3g",
    "spark.driver.extraJavaOptions": "",  # tests compile less, as they are short
}
"""What a session has beside the settings of the tests."""

TUNED: Final = ("spark.databricks.delta.snapshotPartitions",)
"""Settings of the tests that a session with defaults lacks."""

_WARM_UP: Final = 20_000
"""Messages of a batch of the topic that is read first, at least: small ones would be hundreds."""

_SECONDS: Final = 0.2
"""How often the query is asked how far it is."""


def run(job: Job) -> Done:
    """Run a job in this process, with a line of JSON for each batch."""
    spark = _session(job)
    spark.sparkContext.setLogLevel("ERROR")
    if job.is_warm:
        folder = str(Path(job.folder, "warm_up"))
        whole = max(job.batch, _WARM_UP)
        first = replace(job, topic=job.warm_up, folder=folder, batch=whole, seed=0)
        JOBS[job.name](first).awaitTermination()
    if job.seed:
        seed(spark, job)
    cpu, start = cpu_seconds(), time.perf_counter()
    query = JOBS[job.name](job)
    if isinstance(query, cws.TableQueries):
        batches = _of_both(query, job, cpu)
    else:
        batches = _batches(query, cpu)
    seconds = time.perf_counter() - start
    return Done(seconds, cpu_seconds() - cpu, batches)


def _session(job: Job) -> SparkSession:
    """Return the session of a job."""
    asked = {**settings(Path(job.folder, "warehouse")), **SETTINGS}
    if not job.has_defaults:
        return cws.session(asked)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[*]")
    for name, value in asked.items():
        if name not in TUNED:
            builder = builder.config(name, value)
    return builder.getOrCreate()


def _of_both(queries: cws.TableQueries, job: Job, cpu: float) -> list[Took]:
    """Return what each batch took to land and to be applied; of a backlog, all of them as one.

    The arguments are those of `_batches`.
    """
    if not job.is_backlog:  # a file of each partition of the topic: what one batch landed
        name = {"delta": "maxFilesPerTrigger", "iceberg": "streaming-max-files-per-micro-batch"}
        STREAMED[job.format][name[job.format]] = str(PARTITIONS)
    landed = _batches(queries.land, cpu)
    applied = _batches(queries.applying(), cpu_seconds())
    if job.is_backlog:
        every = [*landed, *applied]
        rows = sum(one.rows for one in landed)
        return [Took(rows, sum(one.seconds for one in every), sum(one.cpu for one in every))]
    return [
        Took(one.rows, one.seconds + other.seconds, one.cpu + other.cpu)
        for one, other in zip(landed, applied, strict=True)
    ]


def _batches(query: Any, cpu: float) -> list[Took]:
    """Return what each batch took, and say how far the query is.

    Args:
        query: The query.
        cpu: CPU time before it started, in seconds.
    """
    spent: dict[int, float] = {}
    # PySpark's own `recentProgress` takes some seconds of CPU time after ten batches.
    of_jvm = query._jsq  # noqa: SLF001
    ended = False
    while not ended:
        ended = bool(query.awaitTermination(_SECONDS))
        progress = of_jvm.lastProgress()
        if progress is not None and progress.batchId() not in spent:
            spent[progress.batchId()] = cpu_seconds()
            say(Batch(progress.batchId()))
    found = []
    for told in map(msgspec.json.decode, (one.json() for one in of_jvm.recentProgress())):
        if told["numInputRows"]:
            now = spent.get(told["batchId"], cpu)
            seconds = told["durationMs"]["triggerExecution"] / 1000
            found.append(Took(told["numInputRows"], seconds, now - cpu))
            cpu = now
    return found


if __name__ == "__main__":
    asked = msgspec.json.decode(sys.argv[1], type=Job)
    say(local.run(asked) if asked.name == LOCAL else run(asked))
