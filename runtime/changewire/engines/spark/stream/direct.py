"""The quick way to write a batch: the job that decodes it appends its changes.

Tasks check that what they decode adds up before they end, so nothing is committed that does not.
What cannot be written so is decoded and kept first: an output takes a batch once, so one of which
the changes are there already gets nothing but the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from typing import Generic, TypeVar

import pyarrow as pa
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame

from changewire.engines.options import BatchId, StreamOptions
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.frames import local_rows
from changewire.engines.spark.reports import TaskReports
from changewire.engines.spark.stream.output import APPENDS, Output
from changewire.engines.spark.types import nullable

T = TypeVar("T")


@dataclass(frozen=True)
class Appended(Generic[T]):
    """A batch whose changes were appended.

    Attributes:
        rest: Its rows that are no changes, and its counts.
        made: What was made of the effects of its changes.
    """

    rest: DecodedFrames
    made: T


def can_be_direct(options: StreamOptions, reports: TaskReports) -> bool:
    """Whether nothing has to be known of a batch before its changes are written, nor kept after it.

    The first dead letters of a batch with too many are read again, and so is what a listener gets.
    """
    needs_rows = options.max_dead_letters is not None or options.listener.written is not None
    return reports.are_whole and not needs_rows


def append_directly(
    decoded: DecodedFrames,
    output: Output,
    sink: str,
    batch: BatchId,
    reports: TaskReports,
    *,
    meanwhile: Callable[[tuple[bytes, ...]], T],
) -> Appended[T] | None:
    """Decode a batch and append its changes, by one job.

    Args:
        decoded: Its rows, which are not kept.
        output: The output of the changes.
        sink: Format of the output.
        batch: Its id.
        reports: What its tasks report.
        meanwhile: Called with `Report.effects` in a thread of its own, once all tasks have ended
            and while the sink commits what they wrote. It must not write.

    Returns:
        What is left to write; None if it is not known: the sink had the batch already, what tasks
        had to report is large, or the sink ran other tasks than Spark has partitions.
    """
    rows, spark = decoded.rows, decoded.rows.sparkSession
    partitions, is_over = rows.rdd.getNumPartitions(), Event()
    reports.clear()

    def early() -> Appended[T] | None:
        report = reports.wait(partitions, is_over)
        if report is None or report.others is None or report.effects is None:
            return None
        rest = replace(decoded, rows=_frame(report.others, rows), counted=report.counts)
        return Appended(rest, meanwhile(report.effects))

    with ThreadPoolExecutor(1) as pool:
        found: Future[Appended[T] | None] = pool.submit(inheritable_thread_target(spark)(early))
        try:
            APPENDS[sink](output.rows(decoded), output, batch)
        finally:
            is_over.set()
    return found.result()


def _frame(batches: list[pa.RecordBatch], like: DataFrame) -> DataFrame:
    """Return rows of the driver as a DataFrame with the columns of another, for one file."""
    # Arrow takes no NULL for a struct whose fields are never NULL.
    kind = nullable(like.schema)
    columns = pa.schema([*arrow_type(kind)])
    rows = pa.Table.from_batches(batches).cast(columns) if batches else columns.empty_table()
    return local_rows(like.sparkSession, rows, kind).coalesce(1)
