"""A streaming query that appends changes to a log and merges them into tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.decode import Decoder
from changewire.engines.options import ApplyKeywords, Listener, StreamListener, asked
from changewire.engines.spark.decode import check_positions, mapped
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.merge.batch import Merger
from changewire.engines.spark.merge.options import ApplyOptions, apply_options
from changewire.engines.spark.merge.part import QueryTables
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.progress import observed
from changewire.engines.spark.types import ROWS
from changewire.engines.spark.worker import tally_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


def apply_changes(
    messages: DataFrame,
    *,
    format: str,
    log: str,
    target: str,
    checkpoint: str,
    table_format: str = "delta",
    trigger: Mapping[str, Any] | None = None,
    notice: Listener | None = None,
    metrics: Listener | None = None,
    **options: Unpack[ApplyKeywords],
) -> StreamingQuery:
    """Start a query that appends every element to a log, and merges changes into tables.

    Each batch is appended to the log in one commit, and then each table gets one MERGE. A table has
    the newest change of each key in the log, as docs/tables.md says. A table that does not exist is
    created; it belongs to the query then.

    Args:
        messages: A stream, with the columns that `decode` takes; ``topic``, ``partition`` and
            ``offset``, or ``path`` and ``number``, are needed.
        format: Public name of the format, or ``auto``: each message says which it has.
        log: Path of the log (it has a slash), or name of its table.
        target: Path or name of the tables, with ``{system}``, ``{database}``, ``{schema}`` and
            ``{table}`` for names of the source, each made safe.
        checkpoint: Folder of the query's checkpoint.
        table_format: Format of log and tables: ``delta`` or ``iceberg``.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.
        notice: Called with a line to read for each batch.
        metrics: Called with a line of JSON for each batch.
        **options: What messages do not say themselves, and how tables are written, see
            `ApplyKeywords`.

    Returns:
        The running query. `await_termination` raises what stops it.

    Raises:
        ValueError: An argument is not valid, or `messages` is not a stream or has no positions.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    place = LogPlace(log, table_format)
    decode_options, tables = asked(format, target, options)
    how = apply_options(decode_options, tables, log=place, checkpoint=checkpoint)
    listener = StreamListener(notice, metrics)
    return start(messages, how, Decoder(decode_options), listener, trigger)


def start(
    messages: DataFrame,
    options: ApplyOptions,
    decoder: Decoder,
    listener: StreamListener,
    trigger: Mapping[str, Any] | None,
) -> StreamingQuery:
    """Start the query of `apply_changes`."""
    if not messages.isStreaming:
        raise ValueError("apply_changes takes a stream, such as `read_kafka` returns")
    check_positions(messages)
    spark = messages.sparkSession
    tally = tally_of(spark)
    decoded = mapped(messages, decoder, ROWS, tally)
    log, routing = options.log, options.routing
    log.check(spark, log_rows(decoded).schema)
    places = {"log": log.target, "target": routing.template.text}
    query = identity(spark, options.checkpoint, table_format=log.table_format, outputs=places)
    key_columns = decoder.decode_options.key_columns
    merger = Merger(QueryTables(query, options), listener, tally, key_columns)
    writer = observed(decoded).writeStream.foreachBatch(merger)
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer.option("checkpointLocation", options.checkpoint).start()
