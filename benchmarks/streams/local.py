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

_BATCH_EVERY: Final = 20.0
"""Seconds after which a batch ends that is not full: the last one of a topic."""


class _Batches:
    """Takes the lines that a stream writes for a batch in its log, and for its merge."""

    def __init__(self, *, is_reported: bool) -> None:
        """Begin without a batch."""
        self.found: list[Took] = []
        self.is_read = False
        self._is_reported, self._cpu = is_reported, cpu_seconds()

    def __call__(self, line: str) -> None:
        """Add a line."""
        report: dict[str, Any] = msgspec.json.decode(line)
        now = cpu_seconds()
        if "tables" in report:
            self.found[-1].seconds += report["seconds"]
            self.found[-1].cpu += now - self._cpu
        else:
            self.found.append(Took(report["rows"], report["seconds"], now - self._cpu))
            self.is_read = report["lag_offsets"] == 0
            if self._is_reported:
                say(Batch(len(self.found) - 1))
        self._cpu = now


def run(job: Job, *, is_reported: bool = True) -> Done:
    """Read a topic to its end, and merge each batch; say how far it is if asked to."""
    if job.is_warm:
        folder = f"{job.folder}/warm_up"
        run(replace(job, topic=job.warm_up, folder=folder, is_warm=False), is_reported=False)
    cpu, start = cpu_seconds(), time.perf_counter()
    batches = _Batches(is_reported=is_reported)
    topics = {"kafka.bootstrap.servers": job.server, "subscribe": job.topic}
    cwd.stream(
        topics,
        format=FORMAT,
        log=job.log,
        target=job.place("{table}"),
        deletes="flag",
        continuous=True,
        batch_size=job.batch,
        batch_every=_BATCH_EVERY,
        stop=lambda: batches.is_read,
        metrics=batches,
    )
    return Done(time.perf_counter() - start, cpu_seconds() - cpu, batches.found)
