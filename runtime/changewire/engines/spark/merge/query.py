"""Streaming queries that append changes to a log, and merge those of a log into tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.decode import Decoder
from changewire.engines.errors import OutputError
from changewire.engines.options import (
    ApplyKeywords,
    Listener,
    StreamListener,
    StreamOptions,
    TableKeywords,
    TableOptions,
    asked,
)
from changewire.engines.spark.decode import DecodedFrames, check_positions, mapped
from changewire.engines.spark.jvm import cloned_session
from changewire.engines.spark.log.land import KeyRule, Landing, start_landing
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.merge.batch import LogMerger
from changewire.engines.spark.merge.from_log import is_chosen
from changewire.engines.spark.merge.options import ApplyOptions, apply_options
from changewire.engines.spark.merge.part import QueryTables
from changewire.engines.spark.merge.resume import PROGRESS, next_batch
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.queries import TableQueries
from changewire.engines.spark.types import ROWS
from changewire.engines.spark.worker import tally_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TO_THE_END: Final = frozenset({"availableNow", "once"})
"""Triggers of queries that end by themselves."""


def apply_changes(
    messages: DataFrame,
    *,
    format: str,
    log: str,
    target: str,
    checkpoint: str,
    table_format: str = "delta",
    trigger: Mapping[str, Any] | None = None,
    apply_trigger: Mapping[str, Any] | None = None,
    notice: Listener | None = None,
    metrics: Listener | None = None,
    **options: Unpack[ApplyKeywords],
) -> TableQueries:
    """Start two queries: one appends every element to a log, the other merges changes into tables.

    Each batch of messages is appended to the log in one commit. `apply_log` merges what is new in
    the log, so nothing about a table keeps a message out of the log. A table has the newest change
    of each key in the log, as docs/concepts/tables.md says. A table that does not exist is created;
    it belongs to the queries then.

    With a trigger that reads to the end of the source, the log is applied after the last message
    has landed.

    Args:
        messages: A stream, with the columns that `decode` takes; ``topic``, ``partition`` and
            ``offset``, or ``path`` and ``number``, are needed.
        format: Public name of the format, or ``auto``: each message says which it has.
        log: Path of the log (it has a slash), or name of its table.
        target: Path or name of the tables, with ``{system}``, ``{database}``, ``{schema}`` and
            ``{table}`` for names of the source, each made safe.
        checkpoint: Folder of the checkpoints of both queries.
        table_format: Format of log and tables: ``delta`` or ``iceberg``.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.
        apply_trigger: Trigger of the query that merges, if both run side by side; by default the
            same. Fewer merges of more changes cost less: ``{"processingTime": "5 minutes"}``.
        notice: Called with a line to read for each batch of either query.
        metrics: Called with a line of JSON for each batch of either query.
        **options: What messages do not say themselves, and how tables are written, see
            `ApplyKeywords`.

    Returns:
        The running queries. `await_termination` raises what stops one of them.

    Raises:
        ValueError: An argument is not valid, or `messages` is not a stream or has no positions.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    place = LogPlace(log, table_format)
    decode_options, tables = asked(format, target, options)
    how = apply_options(decode_options, tables, log=place, checkpoint=checkpoint)
    listener = StreamListener(notice, metrics)
    return start(messages, how, Decoder(decode_options), listener, trigger, apply_trigger)


def start(  # noqa: PLR0917 - two queries
    messages: DataFrame,
    options: ApplyOptions,
    decoder: Decoder,
    listener: StreamListener,
    trigger: Mapping[str, Any] | None,
    apply_trigger: Mapping[str, Any] | None = None,
) -> TableQueries:
    """Start the queries of `apply_changes`."""
    if not messages.isStreaming:
        raise ValueError("apply_changes takes a stream, such as `read_kafka` returns")
    check_positions(messages)
    spark, log = messages.sparkSession, options.log
    tally = tally_of(spark)
    decoded = DecodedFrames(mapped(messages, decoder, ROWS, tally), tally)
    query = begun(spark, options)
    limit = options.tables.max_dead_letters
    place = log.target, options.checkpoint, log.table_format
    stream = StreamOptions(*place, trigger, limit, listener)
    keys = KeyRule(decoder.decode_options.key_columns, is_chosen(options.routing))
    land = start_landing(Landing(decoded, stream, query, keys))

    is_sequential = not _TO_THE_END.isdisjoint(trigger or ())
    then = trigger if is_sequential else apply_trigger or trigger

    def apply() -> StreamingQuery:
        return start_applying(spark, options, query, listener, then)

    return TableQueries(land, apply, is_sequential)


def apply_log(
    spark: SparkSession,
    log: str,
    *,
    target: str,
    checkpoint: str,
    table_format: str = "delta",
    trigger: Mapping[str, Any] | None = None,
    notice: Listener | None = None,
    metrics: Listener | None = None,
    **options: Unpack[TableKeywords],
) -> StreamingQuery:
    """Start a query that merges the changes of a log into tables, as `apply_changes` does.

    Any engine may have landed the log. The checkpoint keeps the progress, so a query that was
    killed is started again, and a new target with a new checkpoint gets the whole log. With the
    log, the target and the checkpoint of `apply_changes`, the query continues with its tables.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        target: As for `apply_changes`.
        checkpoint: Folder of the query's checkpoint.
        table_format: Format of log and tables: ``delta`` or ``iceberg``.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.
        notice: Called with a line to read for each batch.
        metrics: Called with a line of JSON for each batch.
        **options: How tables are written, see `TableKeywords`.

    Returns:
        The running query. `await_termination` raises what stops it.

    Raises:
        ValueError: An argument is not valid.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log does not exist or has other columns, or Spark does not know its format.
    """
    place = LogPlace(log, table_format)
    how = apply_options(None, TableOptions(target, **options), log=place, checkpoint=checkpoint)
    listener = StreamListener(notice, metrics)
    return start_applying(spark, how, existing(spark, how), listener, trigger)


def existing(spark: SparkSession, options: ApplyOptions) -> str:
    """Return the id of a query whose log exists; an OutputError says that it does not."""
    if options.log.schema(spark) is None:
        raise OutputError(f"{options.log.target}: the log does not exist")
    return begun(spark, options)


def begun(spark: SparkSession, options: ApplyOptions) -> str:
    """Check or make the log of a query, and return the id that owns its tables."""
    log = options.log
    log.create(spark, log_rows(spark.createDataFrame([], ROWS)).schema)
    places = {"log": log.target, "target": options.routing.template.text}
    return identity(spark, options.checkpoint, table_format=log.table_format, outputs=places)


def start_applying(
    spark: SparkSession,
    options: ApplyOptions,
    query: str,
    listener: StreamListener,
    trigger: Mapping[str, Any] | None,
) -> StreamingQuery:
    """Start the query that merges a log into the tables of a query."""
    progress = f"{options.checkpoint}/{PROGRESS}"
    merger = LogMerger(QueryTables(query, options), progress, listener)
    if options.log.is_cut(spark) and not next_batch(spark, progress):
        merger(options.log.read(cloned_session(spark) or spark), 0)
    writer = options.log.stream(spark).writeStream.foreachBatch(merger)
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer.option("checkpointLocation", progress).start()
