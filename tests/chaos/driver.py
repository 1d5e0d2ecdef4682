"""The query of a chaos run, as a program of its own, that may be killed at a step of a batch."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

import msgspec
from tests.chaos.plan import Job
from tests.chaos.steps import stopping_at
from tests.support.session import settings

import changewire.spark as cws

OWNED: Final = 3
"""Exit code of a query whose tables belong to another one."""


def killed_after(times: int) -> Callable[[], None]:
    """Return what kills this program and its JVM when it is called for the nth time."""
    calls: list[None] = []

    def count() -> None:
        calls.append(None)
        if len(calls) >= times:
            os.killpg(0, signal.SIGKILL)

    return count


def fault(job: Job) -> AbstractContextManager[object]:
    """Return a context in which the query ends as the job says."""
    return nullcontext() if job.step is None else stopping_at(job.step, killed_after(job.times))


def run(job: Job) -> int:
    """Apply what the topic holds, with a line of JSON for each batch; return the exit code."""
    spark = cws.session(settings(Path(job.folder, "warehouse")))
    spark.sparkContext.setLogLevel("OFF")
    options: dict[str, str | int] = {
        "kafka.bootstrap.servers": job.server,
        "subscribe": job.topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": job.rows,
    }
    with fault(job):
        query = cws.apply_changes(
            cws.read_kafka(spark, options),
            format="auto",
            log=job.log,
            target=job.target,
            table_format=job.table_format,
            checkpoint=job.checkpoint,
            row_schema="json",
            deletes=job.deletes,
            trigger={"availableNow": True},
            metrics=lambda line: print(line, flush=True),  # noqa: T201 - the other end reads it
        )
        try:
            cws.await_termination(query)
        except cws.OwnerError:
            return OWNED
    return 0


if __name__ == "__main__":
    sys.exit(run(msgspec.json.decode(sys.argv[1], type=Job)))
