"""What the tasks of a stream report of the rows that they decode, beside the rows themselves.

They report how many these are, and the few that are no changes. An accumulator brings both to the
driver with the result of each task, so that one job can decode a batch and append its changes, and
nothing has to be kept for the other outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from threading import Event
from typing import Final, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import AccumulatorParam, TaskContext
from pyspark.sql import SparkSession

from changewire.engines.counts import Counts
from changewire.engines.layout import CHANGE
from changewire.engines.python.groups import count
from changewire.engines.spark.session import is_remote

MOST_OF_TASK: Final = 2**18
"""Bytes of rows that are no changes which a task reports at most."""

MOST_OF_BATCH: Final = 2**24
"""Bytes of such rows which the driver takes at most."""

_SECONDS: Final = 0.005
"""How often it is looked whether all tasks have reported: the last one does when it ends."""


class Report(NamedTuple):
    """What was decoded, by a task or by all tasks of a batch.

    Attributes:
        counts: How much it is, checked.
        others: The rows that are no changes; None if they are too large to report.
        effects: What its changes do to rows of tables, where that is reported: a stream of Arrow
            for each task that has some; None if they are too large.
    """

    counts: Counts
    others: list[pa.RecordBatch] | None
    effects: tuple[bytes, ...] | None = ()


class TaskEffects(Protocol):
    """What takes the effects from the rows of a task."""

    def taken_from(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Take the effects from some rows; return the rows, without what is reported."""
        ...

    def streams(self) -> tuple[bytes, ...] | None:
        """Return what was taken, as `Report.effects`."""
        ...


_Reports = Mapping[int, Report]
"""Reports by the number of the partition."""


class _Join(AccumulatorParam[_Reports]):
    """How Spark adds reports: of a task that runs again, the last one counts."""

    def zero(self, value: _Reports) -> _Reports:  # noqa: ARG002 - what Spark calls
        return {}

    def addInPlace(self, value1: _Reports, value2: _Reports) -> _Reports:  # noqa: N802
        return {**value1, **value2}


class TaskReports:
    """The reports of the tasks that decode a stream; tasks get a copy, which only adds.

    Attributes:
        are_whole: Whether what the last batch had to report was small enough.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Begin at nothing, in a session whose driver is this process."""
        self._found = spark.sparkContext.accumulator({}, _Join())
        self.are_whole = True

    def reported(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the decoded rows of a task, and report them at the end.

        Raises:
            ConservationError: They do not add up.
        """
        counts = Counts()
        others: list[pa.RecordBatch] | None = []
        effects = self._task_effects()
        for batch in batches:
            count(batch, counts)
            others = _with_others(others, batch)
            yield batch if effects is None else effects.taken_from(batch)
        reported = () if effects is None else effects.streams()
        report = Report(counts.checked(), others, reported)
        context = TaskContext.get()
        if context is not None:
            self._found.add({context.partitionId(): report})

    def _task_effects(self) -> TaskEffects | None:
        """Return what takes the effects from the rows of a task; None if they are not reported."""
        return None

    def clear(self) -> None:
        """Forget what was reported."""
        self._found.value = {}

    def wait(self, partitions: int, is_over: Event) -> Report | None:
        """Return what the tasks of a batch report as soon as all have ended, and forget it.

        Args:
            partitions: How many partitions the batch has.
            is_over: Set when the job has ended; then it is None if a task did not report.
        """
        while len(self._found.value) != partitions and not is_over.wait(_SECONDS):
            pass
        return self.take(partitions)

    def take(self, partitions: int) -> Report | None:
        """Return what the tasks of a batch reported, and forget it; None if one did not.

        Args:
            partitions: How many partitions the batch has.
        """
        found = self._found.value
        self.clear()
        if len(found) != partitions:
            return None
        counts = Counts()
        for report in found.values():
            counts.add_all(report.counts)
        ordered = [found[number] for number in sorted(found)]
        others = _joined([report.others for report in ordered])
        effects = [report.effects for report in ordered]
        streams = [one for one in effects if one is not None]
        every = None if len(streams) < len(effects) else tuple(chain.from_iterable(streams))
        self.are_whole = others is not None and every is not None
        return Report(counts, others, every)


def reports_of(spark: SparkSession) -> TaskReports | None:
    """Return the reports; None for Spark Connect, whose tasks do not report to this process."""
    return None if is_remote(spark) else TaskReports(spark)


def _with_others(
    others: list[pa.RecordBatch] | None, batch: pa.RecordBatch
) -> list[pa.RecordBatch] | None:
    """Return the rows that are no changes, with those of a batch; None if they are too large."""
    if others is None:
        return None
    found = batch.filter(pc.not_equal(batch.column("kind"), CHANGE))
    every = [*others, found] if len(found) else others
    return every if _size(every) <= MOST_OF_TASK else None


def _joined(all_others: list[list[pa.RecordBatch] | None]) -> list[pa.RecordBatch] | None:
    """Return the rows of all tasks; None if those of one are not known, or all are too large."""
    found: list[pa.RecordBatch] = []
    for others in all_others:
        if others is None:
            return None
        found += others
    return found if _size(found) <= MOST_OF_BATCH else None


def _size(batches: list[pa.RecordBatch]) -> int:
    return sum(batch.nbytes for batch in batches)
