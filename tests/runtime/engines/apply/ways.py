"""Where it is decided what rows become: each place must come to the same."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

from changewire.engines.spark.apply import small_batch, table_effects
from changewire.engines.spark.apply.direct_batch import EarlierTables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER, TASKS, SPARK = "in the driver", "in tasks", "in Spark"
"""By the planner, of a small batch; by Python in tasks; by Spark's own functions where it can."""

SHARED = "in both"
"""By Spark's own functions, and in the driver what needs a look at the table."""

REPORTED = "by reports"
"""In the driver, by what tasks report of plain changes; batches with others are counted first."""

WAYS = (DRIVER, TASKS, SPARK, SHARED, REPORTED)

_SIZES = {
    DRIVER: (small_batch.FEW, table_effects.MANY, 0),
    TASKS: (0, table_effects.MANY, 0),
    SPARK: (0, 0, 0),
    SHARED: (0, 0, table_effects.FEW_LOOKED_UP),
    REPORTED: (small_batch.FEW, table_effects.MANY, 0),
}
"""Rows up to which the driver decides, changes from which on Spark does, and effects of a large
batch up to which the driver does."""


@contextmanager
def decided(way: str) -> Generator[None, None, None]:
    """Let batches of any size be decided on in one of these places."""
    few, many, looked_up = _SIZES[way]
    is_ready = EarlierTables.are_ready if way == REPORTED else _never
    with (
        patch.object(EarlierTables, "are_ready", is_ready),
        patch.object(small_batch, "FEW", few),
        patch.object(table_effects, "MANY", many),
        patch.object(table_effects, "FEW_LOOKED_UP", looked_up),
    ):
        yield


def _never(earlier: EarlierTables, spark: SparkSession) -> bool:
    del earlier, spark
    return False
