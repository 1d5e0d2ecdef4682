"""A streaming query that applies changes to tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from changewire.changes import Digests, Image, NullValue
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.options import (
    BatchListener,
    KafkaOptions,
    Limit,
    Listener,
    StreamListener,
    StreamOptions,
    StreamOutputs,
    TableOptions,
)
from changewire.engines.spark.apply.batch import TablesWriter
from changewire.engines.spark.apply.direct_batch import EarlierTables
from changewire.engines.spark.apply.options import ApplyOptions, apply_options_of, with_effects_of
from changewire.engines.spark.apply.plain import EffectReports
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.stream.letters import topic_of
from changewire.engines.spark.stream.query import start
from changewire.engines.typed.evolve import SchemaEvolution
from changewire.engines.typed.schemas import ArrowSchema, RowSchema
from changewire.tables.version_rows import VersionNames


def apply_changes(
    messages: DataFrame,
    *,
    format: str,
    target: str,
    changes: str,
    controls: str,
    dead_letters: str,
    checkpoint: str,
    sink: str = "delta",
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    time_zone: str = "UTC",
    strip_registry_prefix: bool = False,
    rows: Literal["json", "embedded"] | StructType | ArrowSchema | RowSchema = "json",
    schema_evolution: SchemaEvolution = "add_columns",
    null_set: str | None = None,
    apply_as_truncates: bool = False,
    history: str | None = None,
    history_names: VersionNames = "plain",
    trigger: Mapping[str, Any] | None = None,
    max_dead_letters: Limit | None = None,
    notice: Listener | None = None,
    metrics: Listener | None = None,
    written: BatchListener | None = None,
    dead_letters_topic: str | None = None,
    kafka: KafkaOptions | None = None,
) -> StreamingQuery:
    """Start a query that applies changes to tables, beside the outputs of `write_stream`.

    What a table holds is described in docs/tables.md: it depends on the set of its changes, and not
    on when, how often or together with what they came. A table that is not there is created, and
    beside it one with its tombstones, whose name ends in ``__tombstones``. By default its columns
    are ``key`` and ``row``, both JSON text; and it has ``_changewire``, see docs/tables.md.

    Args:
        messages: A stream, with the columns that `decode` takes.
        format: Public name of the format, or ``auto``: each message says which it has.
        target: Name of a table, or a path (it has a slash), with ``{system}``,
            ``{database}``, ``{schema}`` and ``{table}`` where names of the source go, each made
            safe.
        changes: Table or path of the changes.
        controls: Table or path of the control events.
        dead_letters: Table or path of the dead letters; changes that no table can take are dead
            letters too.
        checkpoint: Folder of the query's checkpoint.
        sink: Table format, of tables and outputs: ``delta`` or ``iceberg``.
        image: What a message holds of its row after a write: ``full``, ``patch`` or ``keys``.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table.
        digests: What becomes of a record whose digest is not that of its set and user key:
            ``count`` or ``refuse`` it; ``off`` does not compare.
        null_value: What a record without value is: ``control``, an event that changes nothing, or
            ``delete``, of the row that its key names.
        time_zone: IANA name of the zone whose clocks made the dates of DataWorks messages: that of
            the task that synchronizes.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys.
        rows: How tables have their rows: ``json``; columns of a type, for all tables, as `decode`
            takes them, so that an element whose row does not fit is a dead letter; or ``embedded``,
            the columns that the schema in each message declares. The change log has JSON text.
        schema_evolution: What becomes of a column that a table lacks or has of a narrower type:
            ``add_columns`` adds or widens it, ``strict`` makes the change a dead letter. Any other
            difference makes it one in both.
        null_set: Table of writes that name none.
        apply_as_truncates: Whether a truncate removes the rows that are older; it is counted
            otherwise.
        history: Name or path of tables with every version of each row, beside `target` and with the
            same fields, such as ``lake.{database}.{table}__history``. One that is not there is made
            of the change log. Beside it stands one with deletes, whose name ends in ``__ends``.
        history_names: How its columns are named, as in `history`.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.
        max_dead_letters: Greatest number, or share of the elements, of dead letters in a batch;
            a batch with more is not written, and ends the query. None for any number.
        notice: Called with a line to read for each batch.
        metrics: Called with a line of JSON for each batch; ``tables`` says what became of the
            changes.
        written: Called with each batch, its counts and its rows, once its outputs are written and
            before the tables are merged into.
        dead_letters_topic: Kafka topic that gets the dead letters too.
        kafka: Options of the Kafka client for that topic.

    Returns:
        The running query. `await_end` raises what stops it.

    Raises:
        ValueError: An argument is not valid, `messages` is no stream, or two outputs are at one
            place.
        CheckpointError: The checkpoint is that of another query.
        OutputError: An output has another schema, or Spark does not know its format.
        KafkaSourceError: The topic for dead letters is not there.
    """
    listener = StreamListener(notice, metrics, written)
    outputs = StreamOutputs(changes, controls, dead_letters)
    return apply_stream(
        messages,
        DecodeOptions(
            format,
            image,
            keys,
            families,
            digests,
            null_value,
            time_zone=time_zone,
            strip_registry_prefix=strip_registry_prefix,
        ),
        TableOptions(
            target,
            rows,
            schema_evolution,
            null_set,
            apply_as_truncates,
            history,
            history_names,
        ),
        StreamOptions(
            outputs,
            checkpoint,
            sink,
            trigger,
            max_dead_letters,
            dead_letters_topic,
            kafka,
            listener,
        ),
    )


def apply_stream(
    messages: DataFrame,
    decode_options: DecodeOptions,
    table_options: TableOptions,
    stream_options: StreamOptions,
) -> StreamingQuery:
    """Start the query of `apply_changes`."""
    options = apply_options_of(
        decode_options, table_options, stream_options.sink, stream_options.checkpoint
    )
    return start_applying(with_effects_of(messages, options), options, stream_options)


def start_applying(
    decoded: DecodedFrames, options: ApplyOptions, stream_options: StreamOptions
) -> StreamingQuery:
    """Start a query that applies a stream of decoded rows with the column `effects.EFFECTS`."""
    topic = topic_of(decoded.rows.sparkSession, stream_options)
    frames = partial(DecodedFrames, rows_as=decoded.rows_as)

    reports = None if decoded.reported is None else decoded.reported.reports
    # Rows that their own schemas give types are fitted to their tables after they are decoded.
    are_fitted = options.rows != "embedded"
    earlier = EarlierTables(reports) if isinstance(reports, EffectReports) and are_fitted else None

    def writer(query: str) -> TablesWriter:
        native = decoded.native
        return TablesWriter(query, stream_options, frames, topic, options, earlier, native=native)

    return start(decoded, stream_options, writer, others={"target": options.routing.template.text})
