"""Work of Python workers besides decoding: they report what kernels did, and forget archives."""

from __future__ import annotations

import sys
from typing import Final
from zipimport import zipimporter

from pyspark import AccumulatorParam
from pyspark.sql import SparkSession

from changewire.engines.native import KernelCounts
from changewire.engines.spark.session import accumulator, is_remote

_NOTHING: Final = KernelCounts(0, 0, {})


class _Sum(AccumulatorParam[KernelCounts]):
    """How Spark adds counts."""

    def zero(self, value: KernelCounts) -> KernelCounts:  # noqa: ARG002 - what Spark calls
        return _NOTHING

    def addInPlace(self, value1: KernelCounts, value2: KernelCounts) -> KernelCounts:  # noqa: N802
        return value1.plus(value2)


class KernelTally:
    """Counts of the kernels in the tasks of a DataFrame, summed in the driver by an accumulator."""

    def __init__(self, spark: SparkSession) -> None:
        """Begin at nothing, in a session whose driver is this process."""
        self._sum = accumulator(spark, _NOTHING, _Sum())
        self._taken = _NOTHING

    def add(self, counts: KernelCounts) -> None:
        """Add what a kernel did in a task."""
        self._sum.add(counts)

    def take(self) -> KernelCounts | None:
        """Return what finished tasks added since the last call; None if they had no kernel."""
        found = self._sum.value.minus(self._taken)
        self._taken = self._sum.value
        return found if found.messages else None


def tally_of(spark: SparkSession) -> KernelTally | None:
    """Return a tally; None for Spark Connect, whose tasks do not report to this process."""
    return None if is_remote(spark) else KernelTally(spark)


def forget_archives() -> None:
    """Forget which archives this process imports from, so that the next import finds them again.

    PySpark's worker calls `importlib.invalidate_caches` before each task, which reads the directory
    of each archive again, once for each of its packages: a twelfth of a second for PySpark's own.
    """
    finders = sys.path_importer_cache
    for name in [name for name, finder in finders.items() if isinstance(finder, zipimporter)]:
        finders.pop(name, None)
