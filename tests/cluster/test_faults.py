"""What a run on a cluster must have killed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.chaos.messages import COLLIDING
from tests.cluster.faults import FAULTS, NEEDED, missing_kills
from tests.cluster.machines import Cluster
from tests.cluster.topic import TABLES


@pytest.mark.parametrize(
    ("kills", "missing"),
    [
        ({}, ["executor", "worker", "driver"]),
        ({"executor": 1, "worker": 2, "driver": 2}, []),
        ({"executor": 1, "worker": 0, "machine": 3, "python": 1}, ["worker", "driver"]),
    ],
)
def test_a_fault_that_killed_nothing_is_missing(kills: dict[str, int], missing: list[str]) -> None:
    """An executor, a worker and a driver must die; a fault that found no process is no kill."""
    assert missing_kills(kills) == missing


def test_an_executor_that_is_not_there_yet_is_not_killed(tmp_path: Path) -> None:
    """After other faults a cluster may have no executor for a while."""
    driver: Any = None
    assert FAULTS["executor"](Cluster(tmp_path, tmp_path, "", ""), driver, Random(1)) == 0  # noqa: S311


def test_a_run_draws_all_that_must_be_killed() -> None:
    """What a run must have killed is among what it kills."""
    assert {*NEEDED} <= {*FAULTS}


def test_no_table_of_a_run_is_one_that_is_refused() -> None:
    """What is expected of changes of that table is that they are refused."""
    assert COLLIDING not in TABLES
