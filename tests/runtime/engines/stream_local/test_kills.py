"""Each element once, and each row right, wherever the process is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
import pytest
from tests.runtime.engines.stream_local.faults import STEPS
from tests.runtime.engines.stream_local.topics import Topic, assert_same, history

ROOT = Path(__file__).parents[4]
KILLS = int(os.environ.get("CHANGEWIRE_KILLS", "100"))
"""How often the long test kills a stream."""


def killed(topic: Topic, step: str, calls: int) -> bool:
    """Run a stream that is killed at a step, unless it ends before."""
    options = {**topic.places(), "batch_size": 7, "continuous": False}
    text = msgspec.json.encode([topic.options, options, step, calls]).decode()
    done = subprocess.run(
        [sys.executable, "-m", "tests.runtime.engines.stream_local.faults", text],
        check=False,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode in {0, 9}, done.stderr.decode()
    return done.returncode == 9


@pytest.mark.parametrize(
    "steps", [[*STEPS], *(pytest.param([step] * 2, marks=pytest.mark.long) for step in STEPS)]
)
def test_a_kill_loses_nothing_and_doubles_nothing(topic: Topic, steps: list[str]) -> None:
    """A stream is killed at a step, and the next one at the next; the last makes it whole."""
    for seed, step in enumerate(steps):
        topic.send(history(seed, 12))
        assert killed(topic, step, 0), step
    topic.stream(batch_size=7)
    assert_same(topic)


@pytest.mark.long
def test_many_kills_lose_nothing(topic: Topic) -> None:
    """Again and again, at any step, while messages come."""
    draw, kills, seed = Random(7), 0, 0  # noqa: S311 - not a secret
    while kills < KILLS:
        seed += 1
        topic.send(history(seed, draw.randrange(1, 20)))
        kills += killed(topic, draw.choice([*STEPS]), draw.randrange(3))
    topic.stream()
    assert_same(topic)
