"""What a run measures, and its jobs: one after the other, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from benchmarks.streams.history import PARTITIONS, Sent, history
from benchmarks.streams.job import Batch, Done
from benchmarks.streams.jobs import Job
from benchmarks.streams.topics import fill

WARM_UP: Final = "warm_up"
_WARM_UP_ROWS: Final = 1000

_LAST: Final = 3000
"""So many characters of what a failed job said are told."""


class JobError(Exception):
    """A job failed; the text ends with what it said last."""


class Run(msgspec.Struct, frozen=True):
    """What a run measures, and where.

    Attributes:
        server: Bootstrap server of the broker.
        folder: Gets what jobs write, while they run.
        messages: Messages of a topic.
        batch: Messages of a batch, at most.
        warm_up: Messages that each job reads first.
        rounds: How often each job is timed.
        changes: Changes that are merged into tables of some sizes.
        sizes: Rows of these tables.
        batches: Small batches of a job; the first third of them warms up.
    """

    server: str
    folder: Path
    messages: int = 1_000_000
    batch: int = 100_000
    warm_up: int = 20_000
    rounds: int = 1
    changes: int = 1_000_000
    sizes: tuple[int, ...] = (1_000_000, 5_000_000)
    batches: int = 15

    def fill(self, topic: str, records: Iterable[Sent]) -> int:
        """Make a topic; return the bytes of a message, on average."""
        say(f"topic {topic}")
        count, size = fill(self.server, topic, records)
        say(f"  {count} messages, {size / 2**20:.0f} MB")
        return round(size / count)

    def warm(self) -> None:
        """Make the topic that each job reads first."""
        records = history(self.warm_up, lambda random: random.randrange(_WARM_UP_ROWS))
        self.fill(WARM_UP, records)

    def time(self, name: str, topic: str, **fields: Any) -> Done:
        """Run a job in a folder that goes with it.

        Args:
            name: One of `jobs.JOBS`.
            topic: The topic that it reads.
            fields: Other fields of the job; a batch has the messages of the run by default.

        Raises:
            JobError: It failed.
        """
        # Spark rounds down what it takes of each partition.
        batch = fields.pop("batch", self.batch) + PARTITIONS
        with TemporaryDirectory(dir=self.folder) as folder:
            return run(Job(name, self.server, topic, WARM_UP, folder, batch, **fields))


def run(job: Job) -> Done:
    """Run a job in a process of its own, and tell how far it is.

    Raises:
        JobError: It failed.
    """
    said = Path(job.folder, "said.log")
    program = [sys.executable, "-m", "benchmarks.streams.job", msgspec.json.encode(job).decode()]
    done: Done | None = None
    with (
        said.open("wb") as errors,
        subprocess.Popen(program, stdout=subprocess.PIPE, stderr=errors) as process,  # noqa: S603
    ):
        for line in process.stdout or ():
            told = msgspec.json.decode(line, type=Batch | Done)
            if isinstance(told, Done):
                done = told
            else:
                say(f"  {job.name}: {told.messages} messages")
    if process.returncode or done is None:
        text = said.read_text(encoding="utf-8", errors="replace")[-_LAST:]
        raise JobError(f"{job.name} ended with {process.returncode}:\n{text}")
    say(f"  {job.name}: {done.seconds:.1f} s, {done.cpu:.1f} s of CPU time")
    return done


def say(text: str) -> None:
    """Tell how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
