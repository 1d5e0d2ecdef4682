"""The quick way to write a batch: the job that decodes it appends its changes.

Tasks check that what they decode adds up before they end, so nothing is committed that does not.
What cannot be written so is decoded and kept first: an output takes a batch once, so one of which
the changes are there already gets nothing but the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame

from changewire.engines.options import BatchId, StreamOptions
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.frames import local_rows
from changewire.engines.spark.reports import TaskReports
from changewire.engines.spark.stream.output import APPENDS, Output
from changewire.engines.spark.types import nullable


class Appended(NamedTuple):
    """What is left of a batch whose changes were appended.

    Attributes:
        rest: Its rows that are no changes, and its counts.
        effects: As `Report.effects`.
    """

    rest: DecodedFrames
    effects: tuple[bytes, ...]


def can_be_direct(options: StreamOptions, reports: TaskReports) -> bool:
    """Whether nothing has to be known of a batch before its changes are written, nor kept after it.

    The first dead letters of a batch with too many are read again, and so is what a listener gets.
    """
    needs_rows = options.max_dead_letters is not None or options.listener.written is not None
    return reports.are_whole and not needs_rows


def append_directly(
    decoded: DecodedFrames, output: Output, sink: str, batch: BatchId, reports: TaskReports
) -> Appended | None:
    """Decode a batch and append its changes, by one job.

    Args:
        decoded: Its rows, which are not kept.
        output: The output of the changes.
        sink: Format of the output.
        batch: Its id.
        reports: What its tasks report.

    Returns:
        What is left to write; None if it is not known: the sink had the batch already, what tasks
        had to report is large, or the sink ran other tasks than Spark has partitions.
    """
    reports.clear()
    APPENDS[sink](output.rows(decoded), output, batch)
    report = reports.take(decoded.rows.rdd.getNumPartitions())
    if report is None or report.others is None or report.effects is None:
        return None
    rows = _frame(report.others, decoded.rows)
    return Appended(replace(decoded, rows=rows, counted=report.counts), report.effects)


def _frame(batches: list[pa.RecordBatch], like: DataFrame) -> DataFrame:
    """Return rows of the driver as a DataFrame with the columns of another, for one file."""
    # Arrow takes no NULL for a struct whose fields are never NULL.
    kind = nullable(like.schema)
    columns = pa.schema([*arrow_type(kind)])
    rows = pa.Table.from_batches(batches).cast(columns) if batches else columns.empty_table()
    return local_rows(like.sparkSession, rows, kind).coalesce(1)
