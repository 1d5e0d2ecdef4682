"""What a run on a cluster must have killed."""

from __future__ import annotations

import pytest
from tests.cluster.faults import FAULTS, NEEDED, missing_kills


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


def test_a_run_draws_all_that_must_be_killed() -> None:
    """What a run must have killed is among what it kills."""
    assert {*NEEDED} <= {*FAULTS}
