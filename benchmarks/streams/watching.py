"""Memory and CPU time of a program, its JVM and its Python workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

import msgspec
import psutil

_SECONDS: Final = 0.25


class Sample(msgspec.Struct, array_like=True, frozen=True):
    """Resident memory at a moment, in bytes.

    Attributes:
        seconds: Time since the first sample.
        driver: Of this program.
        jvm: Of its JVM.
        workers: Of all Python workers together.
    """

    seconds: float
    driver: int
    jvm: int
    workers: int


@contextmanager
def watched() -> Generator[list[Sample], None, None]:
    """Give a list that gets a sample four times a second."""
    samples: list[Sample] = []
    done = threading.Event()
    thread = threading.Thread(target=_watch, args=(samples, done))
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


def cpu_seconds() -> float:
    """Return the CPU time of this program and of all that it started."""
    total = 0.0
    for process in _family():
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
            # Of children that have ended: workers are those of Spark's daemon.
            total += times.children_user + times.children_system
    return total


def tenths(samples: list[Sample]) -> list[Sample]:
    """Return the samples at each tenth of their time."""
    end = samples[-1].seconds
    return [
        min(samples, key=lambda sample: abs(sample.seconds - end * tenth / 10))
        for tenth in range(1, 11)
    ]


def _family() -> list[psutil.Process]:
    this = psutil.Process()
    return [this, *this.children(recursive=True)]


def _watch(samples: list[Sample], done: threading.Event) -> None:
    start = time.perf_counter()
    while True:
        memory = {"driver": 0, "java": 0, "workers": 0}
        this, *others = _family()
        memory["driver"] = this.memory_info().rss
        for process in others:
            with suppress(psutil.Error):
                kind = "java" if "java" in process.name() else "workers"
                memory[kind] += process.memory_info().rss
        samples.append(Sample(time.perf_counter() - start, *memory.values()))
        if done.wait(_SECONDS):
            return
