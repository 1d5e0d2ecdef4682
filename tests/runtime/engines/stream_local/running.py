"""A continuous stream in a thread of a test."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from tests.runtime.engines.stream_local.topics import Topic

SECONDS = 60


@dataclass
class Running:
    """A continuous stream in a thread.

    Attributes:
        lines: What it says.
        errors: What ended it.
    """

    lines: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    is_stopped: bool = False

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something."""
        end = time.monotonic() + SECONDS
        while not is_so():
            assert time.monotonic() < end
            assert not self.errors, self.errors
            time.sleep(0.05)


@contextmanager
def running(topic: Topic, **options: Any) -> Generator[Running, None, None]:
    """Run a continuous stream, which ends after the batch that it is at."""
    made = Running()
    given: dict[str, Any] = {"continuous": True, "batch_every": 0.2, "notice": made.lines.append}

    def call() -> None:
        try:
            topic.stream(**given, **options, stop=lambda: made.is_stopped)
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            made.errors.append(error)

    thread = Thread(target=call)
    thread.start()
    try:
        yield made
    finally:
        made.is_stopped = True
        thread.join(SECONDS)
    assert not thread.is_alive()
    assert not made.errors, made.errors


def landed(topic: Topic) -> int:
    """Return how many records are in the log."""
    if not (topic.root / "lake" / "log" / "_delta_log").exists():
        return 0
    return len({row[1:4] for row in topic.lake().log()})
