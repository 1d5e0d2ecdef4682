"""Ends of a query between the steps of a merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.runtime.engines.ends import ending

from changewire.engines.spark.apply import merge
from changewire.engines.spark.apply.history.merge import HistoryMerge
from changewire.engines.spark.apply.history.tables import HistoryTables
from changewire.engines.spark.apply.known import SparkCheckpoint

STEPS = {
    "before tombstones": (merge, "write_tombstones", True),
    "after tombstones": (merge, "write_tombstones", False),
    "before rows": (merge, "write_rows", True),
    "after rows": (merge, "write_rows", False),
    "after tables": (SparkCheckpoint, "keep_tables", False),
}
"""Steps of a batch, after its outputs: where the function is that takes it, and whether the query
ends before it."""

HISTORY_STEPS = {
    "before versions": (HistoryMerge, "_merge", True),
    "after versions": (HistoryMerge, "_merge", False),
    "before a table of versions is complete": (HistoryTables, "complete", True),
}
"""The same of queries that keep versions, between outputs and tables."""


def ending_at(step: str, end: Callable[[], None]) -> Any:
    """Return a context in which the writing of a batch ends at a step."""
    module, name, is_before = {**STEPS, **HISTORY_STEPS}[step]
    return ending(module, name, end, is_before=is_before)
