"""The job without Spark: a Kafka client, a log and tables of Delta, in one process."""

from __future__ import annotations

import time
from typing import Any, Final

import msgspec
from msgspec.structs import replace

import changewire.delta as cwd
from benchmarks.cpu import cpu_seconds
from benchmarks.streams.done import Batch, Done, Took, say
from benchmarks.streams.jobs import FORMAT, Job

_WHOLE: Final = 20.0
"""Seconds that a batch waits for messages: its size ends it, but for the last one of a topic."""


class _Batches:
    """Takes the lines that a stream writes for a batch in its log, and for its merge."""

    def __init__(self, *, is_told: bool) -> None:
        """Begin without a batch."""
        self.found: list[Took] = []
        self.is_read = False
        self._is_told, self._cpu = is_told, cpu_seconds()

    def __call__(self, line: str) -> None:
        """Add a line."""
        told: dict[str, Any] = msgspec.json.decode(line)
        now = cpu_seconds()
        if "tables" in told:
            self.found[-1].seconds += told["seconds"]
            self.found[-1].cpu += now - self._cpu
        else:
            self.found.append(Took(told["rows"], told["seconds"], now - self._cpu))
            self.is_read = told["lag_offsets"] == 0
            if self._is_told:
                say(Batch(len(self.found) - 1))
        self._cpu = now


def run(job: Job, *, is_told: bool = True) -> Done:
    """Read a topic to its end, and merge each batch; say how far it is if asked to."""
    if job.is_warm:
        folder = f"{job.folder}/warm_up"
        run(replace(job, topic=job.warm_up, folder=folder, is_warm=False), is_told=False)
    cpu, start = cpu_seconds(), time.perf_counter()
    batches = _Batches(is_told=is_told)
    topics = {"kafka.bootstrap.servers": job.server, "subscribe": job.topic}
    cwd.stream(
        topics,
        format=FORMAT,
        log=job.log,
        target=job.place("{table}"),
        deletes="flag",
        continuous=True,
        batch_size=job.batch,
        batch_every=_WHOLE,
        stop=lambda: batches.is_read,
        metrics=batches,
    )
    return Done(time.perf_counter() - start, cpu_seconds() - cpu, batches.found)
