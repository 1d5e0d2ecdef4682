"""A streaming query that appends changes to a log and merges them into tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import ArrayType, StructField, StructType

from changewire.changes import Digests, Image, NullValue
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.effects import EFFECTS, EffectsDecoder, LeanEffectsDecoder
from changewire.engines.options import MAX_NEW_TABLES, Limit, Listener, StreamListener
from changewire.engines.spark import observed
from changewire.engines.spark.arrow_types import row_columns
from changewire.engines.spark.decode import check_positions, mapped
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.merge.batch import Merger
from changewire.engines.spark.merge.options import ApplyOptions, apply_options
from changewire.engines.spark.merge.part import QueryTables
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.tally import KernelTally, tally_of
from changewire.engines.spark.types import ROWS
from changewire.engines.typed.images import IMAGE, ImagesDecoder
from changewire_messages.tables.spark import ROW_MUTATION


def apply_changes(
    messages: DataFrame,
    *,
    format: str,
    log: str,
    target: str,
    checkpoint: str,
    sink: str = "delta",
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    time_zone: str = "UTC",
    strip_registry_prefix: bool = False,
    rows: Any = "json",
    schema_evolution: str = "add_columns",
    deletes: str = "remove",
    view: str | None = None,
    null_set: str | None = None,
    apply_as_truncates: bool = False,
    max_new_tables: int = MAX_NEW_TABLES,
    max_dead_letters: Limit | None = None,
    trigger: Mapping[str, Any] | None = None,
    notice: Listener | None = None,
    metrics: Listener | None = None,
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
        sink: Format of log and tables: ``delta`` or ``iceberg``.
        image: What a message holds of its row after a write: ``full``, ``patch`` or ``keys``.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table.
        digests: ``count`` or ``refuse`` Aerospike records whose digest does not fit.
        null_value: What a record without value is: ``control`` or ``delete``.
        time_zone: IANA name of the zone whose clocks made the dates of DataWorks messages: that of
            the task that synchronizes.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys.
        rows: How tables have their rows: ``json`` text; columns of a type, as for `decode`;
            ``embedded``, the columns that the schema in each message declares; or a mapping from
            names of sources such as ``shop.orders`` to one of these, ``*`` for all others.
        schema_evolution: What becomes of a column that a table lacks, or has of a narrower type:
            ``add_columns`` adds or widens it, ``strict`` refuses the change.
        deletes: ``remove`` removes deleted rows from tables. ``flag`` keeps them with their key and
            ``_changewire.deleted``; the other columns are NULL. Then late changes need no look at
            the log.
        view: Name of a view of the rows that are not deleted, with the fields of `target`; for
            ``deletes="flag"``.
        null_set: Table of writes that name none.
        apply_as_truncates: Whether a truncate removes the rows that are older.
        max_new_tables: How many tables a batch may bring; changes of others are refused.
        max_dead_letters: Greatest number, or share of the elements such as ``"5%"``, of dead
            letters in a batch; a batch with more is not written, and ends the query.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.
        notice: Called with a line to read for each batch.
        metrics: Called with a line of JSON for each batch.

    Returns:
        The running query. `await_end` raises what stops it.

    Raises:
        ValueError: An argument is not valid, or `messages` is not a stream or has no positions.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    decode_options = DecodeOptions(
        format,
        image,
        keys,
        families,
        digests,
        null_value,
        time_zone=time_zone,
        strip_registry_prefix=strip_registry_prefix,
    )
    options = apply_options(
        decode_options,
        target=target,
        log=LogPlace(log, sink),
        checkpoint=checkpoint,
        rows=rows,
        schema_evolution=schema_evolution,
        deletes=deletes,
        view=view,
        null_set=null_set,
        apply_as_truncates=apply_as_truncates,
        max_new_tables=max_new_tables,
        max_dead_letters=max_dead_letters,
    )
    return start(messages, options, StreamListener(notice, metrics), trigger)


def start(
    messages: DataFrame,
    options: ApplyOptions,
    listener: StreamListener,
    trigger: Mapping[str, Any] | None,
    decoder: Decoder | None = None,
) -> StreamingQuery:
    """Start the query of `apply_changes`; the decoder is that of its options unless it is given."""
    if not messages.isStreaming:
        raise ValueError("apply_changes takes a stream, such as `read_kafka` returns")
    check_positions(messages)
    spark = messages.sparkSession
    tally = tally_of(spark)
    decoded = decoded_rows(messages, options, tally, decoder)
    log, routing = options.log, options.routing
    log.check(spark, log_rows(decoded).schema)
    places = {"log": log.target, "target": routing.template.text}
    query = identity(spark, options.checkpoint, sink=log.sink, outputs=places)
    merger = Merger(QueryTables(query.id, options), listener, tally)
    writer = observed.decoded(decoded).writeStream.foreachBatch(merger)
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer.option("checkpointLocation", options.checkpoint).start()


def decoded_rows(
    messages: DataFrame,
    options: ApplyOptions,
    tally: KernelTally | None = None,
    decoder: Decoder | None = None,
) -> DataFrame:
    """Return decoded messages with what their changes do to rows."""
    one_type = options.one_type
    columns = [*ROWS.fields, StructField(EFFECTS, ArrayType(ROW_MUTATION))]
    if one_type is not None and decoder is None:
        columns.append(StructField(IMAGE, one_type))
        decoder = ImagesDecoder(options.decode_options, row_columns(one_type))
    if decoder is None:
        has_schemas = "embedded" in options.rows.values()
        kind = EffectsDecoder if has_schemas else LeanEffectsDecoder
        decoder = kind(options.decode_options)
    return mapped(messages, decoder, StructType(columns), tally)
