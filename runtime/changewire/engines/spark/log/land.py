"""Streaming queries that append decoded messages to a log: Spark's own sink, or counted batches."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from changewire.changes.decode_options import DecodeKeywords, DecodeOptions, ElementsAs
from changewire.engines.applied import FIRST_REASONS, too_many
from changewire.engines.by_table import Applied
from changewire.engines.counts import Counts
from changewire.engines.options import BatchId, Limit, StreamOptions, allowed
from changewire.engines.spark.cause import named_errors
from changewire.engines.spark.decode import RowsAs, check_positions
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.log.write import first_dead_letters
from changewire.engines.spark.messages import frames_by
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.progress import observed
from changewire.engines.spark.stream.report import tell

if TYPE_CHECKING:
    from typing_extensions import Unpack

_DEFAULT: Final[Mapping[str, Any]] = {"processingTime": "0 seconds"}
"""Spark's own trigger: a batch as soon as the last one is done."""


def land(
    messages: DataFrame,
    *,
    format: str,
    log: str,
    checkpoint: str,
    table_format: str = "delta",
    elements_as: ElementsAs = "changes",
    row_schema: RowsAs = "json",
    trigger: Mapping[str, Any] | None = None,
    **options: Unpack[DecodeKeywords],
) -> StreamingQuery:
    """Start a query that appends every element of every message to a log, each once.

    A row of the log is a change, a control event or a dead letter; its column ``kind`` says which.
    All rows of a batch are in one commit. The query is Spark's own ``writeStream``, so the options
    of the table format apply, and `apply_changes` can take a log over from it.

    Args:
        messages: A stream, with the columns that `decode` takes; ``topic``, ``partition`` and
            ``offset``, or ``path`` and ``number``, are needed.
        format: Public name of the format, or ``auto``: each message says which it has.
        log: Path of the log (it has a slash), or name of its table.
        checkpoint: Folder of the query's checkpoint.
        table_format: Format of the log: ``delta``, ``iceberg`` or ``parquet``.
        elements_as: ``changes``, or ``messages`` as they are.
        row_schema: How `before` and `after` are kept: as for `decode`.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.
        **options: What messages do not say themselves, see `DecodeKeywords`.

    Returns:
        The running query. `await_termination` raises what stops it.

    Raises:
        ValueError: An argument is not valid, or `messages` is not a stream or has no positions.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    decode_options = DecodeOptions(format, elements_as=elements_as, **options)
    if not messages.isStreaming:
        raise ValueError("land takes a stream; for other DataFrames use `changewire.spark.write`")
    check_positions(messages)
    found = log_rows(observed(frames_by(decode_options, messages, row_schema).rows))
    place, spark = LogPlace(log, table_format), messages.sparkSession
    place.check(spark, found.schema)
    identity(spark, checkpoint, table_format=table_format, outputs={"log": log, "query": "land"})
    writer = found.writeStream.format(table_format).options(**place.options(found))
    writer = writer.option("checkpointLocation", checkpoint).trigger(**(trigger or _DEFAULT))
    return writer.start(log) if place.is_path else writer.toTable(log)


def land_counted(decoded: Frames, stream: StreamOptions) -> StreamingQuery:
    """Start a query that counts and appends each batch, and calls a listener."""
    if stream.table_format == "parquet":  # a batch that is retried would be in it twice
        raise ValueError("batches are counted into logs of Delta or Iceberg, not of Parquet")
    spark, log = decoded.rows.sparkSession, LogPlace(stream.log, stream.table_format)
    log.check(spark, log_rows(decoded.rows).schema)
    places = {"log": log.target, "query": "run"}
    query = identity(spark, stream.checkpoint, table_format=log.table_format, outputs=places)

    def write(rows: DataFrame, number: int) -> None:
        started = time.perf_counter()
        with named_errors():
            kept = replace(decoded, rows=rows.persist(StorageLevel.MEMORY_AND_DISK))
            try:
                counts = kept.counts
                check_dead_letters(stream.max_dead_letters, counts, rows, number)
                log.append(log_rows(rows), query, number)
                seconds = time.perf_counter() - started
                tell(stream.listener, BatchId(query, number), counts, kept, Applied(), seconds)
            finally:
                rows.unpersist()

    writer = observed(decoded.rows).writeStream.foreachBatch(write)
    writer = writer.option("checkpointLocation", stream.checkpoint)
    return writer.trigger(**(stream.trigger or _DEFAULT)).start()


def check_dead_letters(limit: Limit | None, counts: Counts, rows: DataFrame, batch: int) -> None:
    """Refuse a batch that has too many dead letters, with the first reasons."""
    if limit is None or counts.dead_letters <= allowed(limit, counts.elements):
        return
    first = first_dead_letters(rows, limit=FIRST_REASONS)
    raise too_many(limit, counts.elements, counts.by_error_code, first, batch)
