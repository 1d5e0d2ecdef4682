"""One stream on a cluster, started again until it has read its topic, while things are killed."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from random import Random
from threading import Timer
from typing import Final

import msgspec
from tests.cluster.faults import FAULTS
from tests.cluster.machines import Cluster
from tests.cluster.processes import kill_all, running, said

BATCH: Final = re.compile(rb"BatchProgress\(batch=(\d+), rows=(\d+).* seconds=([\d.]+)")
SECONDS: Final = 3600


class Course(msgspec.Struct):
    """What happened to a stream.

    Attributes:
        batches: Batches that were reported.
        starts: How often a driver was started.
        kills: Processes that were killed, by fault.
        rows: Messages of each reported batch.
        seconds: How long each of them took.
    """

    batches: int = 0
    starts: int = 0
    kills: Counter[str] = msgspec.field(default_factory=Counter)
    rows: list[int] = []
    seconds: list[float] = []


def follow(
    cluster: Cluster, command: str, variables: dict[str, str], faults: Iterator[str], random: Random
) -> Course:
    """Run the driver until it ends by itself.

    Args:
        cluster: Where it runs.
        command: Starts the driver.
        variables: Its environment.
        faults: What is killed, one after the other.
        random: Draws when.

    Raises:
        RuntimeError: The driver failed, without being killed.
    """
    course = Course()
    folder = cluster.folder / "driver"
    while True:
        course.starts += 1
        with running(command, folder, variables, piped=True) as driver:
            watchdog = Timer(SECONDS, kill_all, [driver])
            watchdog.start()
            was_killed = False
            assert driver.stdout is not None
            for line in driver.stdout:
                found = BATCH.match(line)
                if found is None:
                    continue
                course.batches += 1
                course.rows.append(int(found[2]))
                course.seconds.append(float(found[3]))
                say(f"batch {int(found[1])}: {int(found[2])} rows in {float(found[3]):.1f} s")
                fault = next(faults, None)
                if fault is not None:
                    time.sleep(random.random() * course.seconds[-1])
                    course.kills[fault] += FAULTS[fault](cluster, driver, random)
                    say(f"  killed: {fault}")
                    was_killed = was_killed or fault == "driver"
            watchdog.cancel()
            code = driver.wait()
        if code == 0:
            return course
        if not was_killed:
            raise RuntimeError(f"the driver ended with {code}:\n{said(folder)}")


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
