"""The query of a chaos run, as a program of its own, that may be killed at a step of a batch."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
from tests.chaos.plan import Job
from tests.runtime.engines.apply import faults as merging
from tests.runtime.engines.stream import faults as landing
from tests.support.session import settings

import changewire.spark as cws

STEPS = (*landing.STEPS, *merging.HISTORY_STEPS, *merging.STEPS)
"""Steps of a batch, in their order."""


def killed_after(times: int) -> Callable[[], None]:
    """Return what kills this program and its JVM when it is called for the nth time."""
    calls: list[None] = []

    def count() -> None:
        calls.append(None)
        if len(calls) >= times:
            os.killpg(0, signal.SIGKILL)

    return count


def fault(job: Job) -> Any:
    """Return a context in which the query ends as the job says."""
    if job.step is None:
        return nullcontext()
    end = killed_after(job.times)
    if job.step not in landing.STEPS:
        return merging.ending_at(job.step, end)
    return landing.ending_at(job.step, job.sink, end)


def run(job: Job) -> None:
    """Apply what the topic holds, with a line of JSON for each batch."""
    spark = cws.session(settings(Path(job.folder, "warehouse")))
    spark.sparkContext.setLogLevel("OFF")
    options: dict[str, str | int] = {
        "kafka.bootstrap.servers": job.server,
        "subscribe": job.topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": job.rows,
    }
    outputs: dict[str, Any] = job.outputs
    with fault(job):
        query = cws.apply_changes(
            cws.read_kafka(spark, options),
            format="aerospike-json",
            target=job.target,
            history=f"{job.target}__history" if job.histories else None,
            sink=job.sink,
            checkpoint=job.checkpoint,
            trigger={"availableNow": True},
            metrics=lambda line: print(line, flush=True),  # noqa: T201 - the other end reads it
            **outputs,
        )
        cws.await_end(query)


if __name__ == "__main__":
    run(msgspec.json.decode(sys.argv[1], type=Job))
