"""One stream on a cluster, started again until it has read its topic, while things are killed."""

from __future__ import annotations

import re
import subprocess
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

from changewire.engines.spark.cause import innermost

BATCH: Final = re.compile(rb"BatchProgress\(batch=(\d+), rows=(\d+).* seconds=([\d.]+)")
SECONDS: Final = 3600
TOLD: Final = 4000
"""Characters of what a failed driver logged last that are shown."""


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
    was_killed = True
    while was_killed:
        course.starts += 1
        was_killed = False
        with running(command, cluster.folder / "driver", variables, piped=True) as driver:
            for seconds in _batches(driver, course):
                fault = next(faults, None)
                time.sleep(random.random() * seconds if fault else 0)
                if fault is None or driver.poll() is not None:
                    continue
                course.kills[fault] += FAULTS[fault](cluster, driver, random)
                was_killed = was_killed or fault == "driver"
                say(f"  killed: {fault}")
            code = driver.wait()
        if code and not was_killed:
            text = said(cluster.folder / "driver")
            cause = innermost(text).sentence(show_values=True)
            raise RuntimeError(f"the driver ended with {code}: {cause}\n{text[-TOLD:]}")
    return course


def _batches(driver: subprocess.Popen[bytes], course: Course) -> Iterator[float]:
    """Note each batch that the driver reports, and yield how long it took, in seconds."""
    assert driver.stdout is not None
    watchdog = Timer(SECONDS, kill_all, [driver])
    watchdog.start()
    for line in driver.stdout:
        found = BATCH.match(line)
        if found is not None:
            number, rows, seconds = int(found[1]), int(found[2]), float(found[3])
            course.batches += 1
            course.rows.append(rows)
            course.seconds.append(seconds)
            say(f"batch {number}: {rows} rows in {seconds:.1f} s")
            yield seconds
    watchdog.cancel()


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
