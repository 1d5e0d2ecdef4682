"""A streaming query that appends decoded messages to a log, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from changewire.changes import Digests, Image, NullValue
from changewire.changes.decode_options import DecodeOptions, ElementsAs
from changewire.engines.spark.decode import RowsAs, check_positions
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.messages import frames_by
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.progress import observed


def land(
    messages: DataFrame,
    *,
    format: str,
    log: str,
    checkpoint: str,
    sink: str = "delta",
    elements_as: ElementsAs = "changes",
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    time_zone: str = "UTC",
    strip_registry_prefix: bool = False,
    rows: RowsAs = "json",
    trigger: Mapping[str, Any] | None = None,
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
        sink: Format of the log: ``delta``, ``iceberg`` or ``parquet``.
        elements_as: ``changes``, or ``messages`` as they are.
        image: What a message holds of its row after a write: ``full``, ``patch`` or ``keys``.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table.
        digests: ``count`` or ``refuse`` Aerospike records whose digest does not fit.
        null_value: What a record without value is: ``control`` or ``delete``.
        time_zone: IANA name of the zone whose clocks made the dates of DataWorks messages: that of
            the task that synchronizes.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys.
        rows: How `before` and `after` are kept: as for `decode`.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.

    Returns:
        The running query. `await_end` raises what stops it.

    Raises:
        ValueError: An argument is not valid, or `messages` is not a stream or has no positions.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    options = DecodeOptions(
        format,
        image,
        keys,
        families,
        digests,
        null_value,
        elements_as,
        time_zone,
        strip_registry_prefix,
    )
    if not messages.isStreaming:
        raise ValueError("land takes a stream; for other DataFrames use `changewire.spark.write`")
    check_positions(messages)
    found = log_rows(observed(frames_by(options, messages, rows).rows))
    place, spark = LogPlace(log, sink), messages.sparkSession
    place.check(spark, found.schema)
    identity(spark, checkpoint, sink=sink, outputs={"log": log, "query": "land"})
    writer = found.writeStream.format(sink).option("checkpointLocation", checkpoint)
    writer = writer.options(**place.options(found))
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer.start(log) if place.is_path else writer.toTable(log)
