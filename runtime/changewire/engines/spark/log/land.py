"""A streaming query that appends decoded messages to a log, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from changewire.changes.decode_options import DecodeKeywords, DecodeOptions, ElementsAs
from changewire.engines.spark import observed
from changewire.engines.spark.decode import RowsAs, check_positions, decoded_by
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.place import LogPlace, check_sink, log_options
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.messages import messages_by
from changewire.engines.spark.stream.identity import identity

if TYPE_CHECKING:
    from typing_extensions import Unpack

_KINDS: Final = ("changes", "messages")


def land(
    messages: DataFrame,
    *,
    format: str,
    log: str,
    checkpoint: str,
    sink: str = "delta",
    elements_as: ElementsAs = "changes",
    rows: RowsAs = "json",
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
        sink: Format of the log: ``delta``, ``iceberg`` or ``parquet``.
        elements_as: ``changes``, or ``messages`` as they are.
        rows: How `before` and `after` are kept: as for `decode`.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.
        **options: What messages do not say themselves, see `DecodeKeywords`.

    Returns:
        The running query. `await_end` raises what stops it.

    Raises:
        ValueError: An argument is not valid, or `messages` is not a stream or has no positions.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    decode_options = DecodeOptions(format, elements_as=elements_as, **options)
    if messages.isStreaming:
        check_positions(messages)
    frames: Frames = (
        messages_by(decode_options, messages)
        if elements_as == "messages"
        else decoded_by(decode_options, messages, rows)
    )
    return land_decoded(frames, LogPlace(log, sink), checkpoint, trigger)


def land_decoded(
    decoded: Frames, place: LogPlace, checkpoint: str, trigger: Mapping[str, Any] | None = None
) -> StreamingQuery:
    """Start the query of `land`."""
    check_sink(place)
    if not decoded.rows.isStreaming:
        raise ValueError("land takes a stream; for other DataFrames use `changewire.spark.write`")
    found = log_rows(observed.decoded(decoded.rows))
    spark = found.sparkSession
    place.check(spark, found.schema)
    identity(spark, checkpoint, sink=place.sink, outputs={"log": place.target, "query": "land"})
    writer = found.writeStream.format(place.sink).option("checkpointLocation", checkpoint)
    writer = writer.options(**log_options(place, found))
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer.start(place.target) if place.is_path else writer.toTable(place.target)
