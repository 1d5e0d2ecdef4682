"""Topics, and jobs that read them: one after the other, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from benchmarks.streams.cases import Case, fields_of
from benchmarks.streams.done import Batch, Done
from benchmarks.streams.history import PARTITIONS, Sent, history
from benchmarks.streams.jobs import Job
from benchmarks.streams.topics import fill

WARM_UP: Final = "warm_up"
_WARM_UP_ROWS: Final = 1000

_LAST: Final = 3000
"""So many characters of what a failed job said are told."""


class JobError(Exception):
    """A job failed; the text ends with what it said last."""


class Run(msgspec.Struct):
    """Where jobs run, and what they did.

    Attributes:
        server: Bootstrap server of the broker.
        folder: Gets what jobs write, while they run.
        warm_up: Messages that each job reads first.
        filled: Names of the topics that are there.
        done: What jobs did, by all that they were told.
    """

    server: str
    folder: Path
    warm_up: int = 20_000
    filled: set[str] = set()
    done: dict[str, Done] = {}

    def fill(self, topic: str, records: Iterable[Sent]) -> None:
        """Make a topic, if it is not there."""
        if topic not in self.filled:
            say(f"topic {topic}")
            count, size = fill(self.server, topic, records)
            say(f"  {count} messages, {size / 2**20:.0f} MB")
            self.filled.add(topic)

    def compare(self, case: Case, rounds: int) -> dict[str, list[Done]]:
        """Run the jobs of a case in turn, the peer first; return what each did in each round."""
        self.fill(WARM_UP, history(self.warm_up, lambda draw: draw.randrange(_WARM_UP_ROWS)))
        self.fill(case.topic.name, case.topic.records())
        found: dict[str, list[Done]] = {name: [] for name in (case.peer, *case.ours)}
        for number in range(1, rounds + 1):
            say(f"{case.title}, round {number} of {rounds}")
            for name, each in found.items():
                each.append(self.time(name, case, number))
        return found

    def time(self, name: str, case: Case, number: int) -> Done:
        """Run a job in a folder that goes with it, if it did not run in this round before.

        Args:
            name: One of `jobs.JOBS`, or `jobs.LOCAL`.
            case: What it is run for.
            number: Of the round.

        Raises:
            JobError: It failed.
        """
        fields = fields_of(case)
        told = repr((name, case.topic.name, fields, number))
        if told not in self.done:
            # Spark rounds down what it takes of each partition.
            fields["batch"] += PARTITIONS
            with TemporaryDirectory(dir=self.folder) as folder:
                job = Job(name, self.server, case.topic.name, WARM_UP, folder, **fields)
                self.done[told] = run(job)
        return self.done[told]


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
                say(f"  {job.name}: batch {told.number}")
    if process.returncode or done is None:
        text = said.read_text(encoding="utf-8", errors="replace")[-_LAST:]
        raise JobError(f"{job.name} ended with {process.returncode}:\n{text}")
    say(f"  {job.name}: {done.seconds:.1f} s, {done.cpu:.1f} s of CPU time")
    return done


def say(text: str) -> None:
    """Tell how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
