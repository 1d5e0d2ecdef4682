"""Where it is decided what rows become: each place must come to the same."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from changewire.engines.spark.apply import decisions, small_batch

DRIVER, TASKS, SPARK = "in the driver", "in tasks", "in Spark"
"""By the planner, of a small batch; by Python in tasks; by Spark's own functions where it can."""

WAYS = (DRIVER, TASKS, SPARK)

_SIZES = {
    DRIVER: (small_batch.FEW, decisions.MANY),
    TASKS: (0, decisions.MANY),
    SPARK: (0, 0),
}
"""Rows up to which the driver decides, and changes from which on Spark does."""


@contextmanager
def decided(way: str) -> Generator[None, None, None]:
    """Let batches of any size be decided on in one of these places."""
    few, many = _SIZES[way]
    with patch.object(small_batch, "FEW", few), patch.object(decisions, "MANY", many):
        yield
