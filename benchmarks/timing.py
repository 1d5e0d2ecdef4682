"""How things are timed: interleaved rounds, without garbage collection, the least of each."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

Action = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds that one call took, in each round."""

    rounds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least of all rounds, in seconds: what else the machine does only adds to it."""
        return min(self.rounds)

    def ratio(self, other: Timing) -> tuple[float, float, float]:
        """Return the ratio of the best rounds, and the least and largest of equal rounds."""
        each = [mine / theirs for mine, theirs in zip(self.rounds, other.rounds, strict=True)]
        return self.best / other.best, min(each), max(each)


@contextmanager
def quiet() -> Generator[None, None, None]:
    """Keep to one core where the system lets us, and put off garbage collection."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
    if cores:
        os.sched_setaffinity(0, {max(cores)})
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if cores:
            os.sched_setaffinity(0, cores)


def compare(actions: Mapping[str, Action], *, rounds: int, seconds: float) -> dict[str, Timing]:
    """Time actions side by side: each round runs all of them, one after the other.

    Args:
        actions: What to time, by name.
        rounds: How many rounds.
        seconds: About how long an action runs in a round.
    """
    repeats = {name: _repeats(action, seconds) for name, action in actions.items()}
    found: dict[str, list[float]] = {name: [] for name in actions}
    with quiet():
        for _ in range(rounds):
            for name, action in actions.items():
                found[name].append(_once(action, repeats[name]))
    return {name: Timing(tuple(each)) for name, each in found.items()}


def _repeats(action: Action, seconds: float) -> int:
    each = median(_once(action, 1) for _ in range(5))
    return max(1, int(seconds / max(each, 1e-7)))


def _once(action: Action, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        action()
    return (time.perf_counter() - start) / repeats
