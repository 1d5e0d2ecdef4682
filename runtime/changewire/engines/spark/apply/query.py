"""A streaming query that applies changes to tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from changewire.changes import Digests, Image, NullValue
from changewire.changes.reading import Reading
from changewire.engines.spark.apply.applying import Applying, row_types, with_effects_of
from changewire.engines.spark.apply.batch import TablesWriter
from changewire.engines.spark.apply.evolve import SchemaEvolution
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.kafka import KafkaOptions
from changewire.engines.spark.row_type import RowSchema
from changewire.engines.spark.stream import limit as limits
from changewire.engines.spark.stream.batch import BatchListener, Listener
from changewire.engines.spark.stream.letters import LettersTopic, letters_topic
from changewire.engines.spark.stream.output import Output
from changewire.engines.spark.stream.query import check_limit, start
from changewire.tables.names import template_of
from changewire.tables.routing import Routing


def apply_changes(
    messages: DataFrame,
    *,
    format: str,
    target: str,
    change_log: str,
    controls: str,
    dead_letters: str,
    checkpoint: str,
    sink: str = "delta",
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    rows: Literal["json", "embedded"] | StructType | RowSchema = "json",
    schema_evolution: SchemaEvolution = "add_columns",
    null_set: str | None = None,
    apply_as_truncates: bool = False,
    trigger: Mapping[str, Any] | None = None,
    max_dead_letters: limits.Limit | None = None,
    notice: Listener | None = None,
    metrics: Listener | None = None,
    written: BatchListener | None = None,
    dead_letters_topic: str | None = None,
    kafka: KafkaOptions | None = None,
) -> StreamingQuery:
    """Start a query that applies changes to tables, beside the outputs of `write_stream`.

    What a table holds is told in docs/tables.md: it depends on the set of its changes, not on when,
    how often or together with what they came. A table that is not there is made, and beside it one
    with its tombstones, whose name ends in ``__tombstones``. By default its columns are ``key`` and
    ``row``, both JSON text; and it has ``_changewire``, see docs/tables.md.

    Args:
        messages: A stream, with the columns that `decode` takes.
        format: Public name of the format, or ``auto``.
        target: Name of a table, or a whole path (it has a slash), with ``{system}``,
            ``{database}``, ``{schema}`` and ``{table}`` where names of the source go, each made
            safe.
        change_log: As in `write_stream`, as are `controls`, `dead_letters`, `checkpoint`,
            `trigger`, `max_dead_letters`, `notice`, `metrics`, `written`, `dead_letters_topic` and
            `kafka`.
        controls: See there.
        dead_letters: See there. It has changes too that no table can take.
        checkpoint: See there.
        sink: Table format, of tables and outputs: ``delta``.
        image: As in `decode`, as are `keys`, `families`, `digests` and `null_value`.
        keys: See there.
        families: See there.
        digests: See there.
        null_value: See there.
        rows: What tables have: ``json``; columns of a type, for all tables, as `decode` takes them,
            where an element whose row does not fit is a dead letter; or ``embedded``, the columns
            that the schema in each message declares. The change log has JSON text.
        schema_evolution: What becomes of a column that a table lacks or has of a narrower type:
            ``add_columns`` adds or widens it, ``strict`` makes the change a dead letter. Any other
            difference makes it one in both.
        null_set: Table of writes that name none.
        apply_as_truncates: Whether a truncate removes the rows that are older; it is counted
            otherwise.
        trigger: See `write_stream`.
        max_dead_letters: See there.
        notice: See there.
        metrics: See there; ``tables`` says what became of the changes.
        written: See there; it is called before the tables are merged into.
        dead_letters_topic: See there.
        kafka: See there.

    Returns:
        The running query. What stops it is told by `await_end`.

    Raises:
        ValueError: An argument is none, `messages` is no stream, or two outputs are at one place.
        CheckpointError: The checkpoint is that of another query.
        OutputError: An output has another schema, or Spark does not know its format.
        KafkaSourceError: The topic for dead letters is not there.
    """
    check_limit(max_dead_letters)
    reading = Reading(format, image, keys, families, digests, null_value)
    types = row_types(rows, reading, schema_evolution)
    routing = Routing(template_of(target), null_set)
    applying = Applying(routing, types, sink, checkpoint, apply_as_truncates)
    decoded = with_effects_of(messages, types)
    targets = {"dead_letters": dead_letters, "controls": controls, "change_log": change_log}
    spark = messages.sparkSession
    topic = letters_topic(spark, dead_letters_topic, kafka or {}) if dead_letters_topic else None
    telling = Telling(max_dead_letters, notice, metrics, written, topic)
    return start_applying(decoded, applying, targets, telling, trigger=trigger)


class Telling(NamedTuple):
    """The last fields of `BatchWriter`: who is told what."""

    max_dead_letters: limits.Limit | None = None
    notice: Listener | None = None
    metrics: Listener | None = None
    written: BatchListener | None = None
    topic: LettersTopic | None = None


def start_applying(
    decoded: Decoded,
    applying: Applying,
    targets: Mapping[str, str],
    telling: Telling,
    *,
    trigger: Mapping[str, Any] | None,
) -> StreamingQuery:
    """Start a query that applies decoded rows with effects.

    Args:
        decoded: A stream, with the column `effects.EFFECTS`.
        applying: How changes are applied.
        targets: Where each output is.
        telling: Who is told what.
        trigger: As in `apply_changes`.
    """

    def writer(query: str, outputs: list[Output]) -> TablesWriter:
        fields = telling._asdict()
        return TablesWriter(
            query, applying.sink, outputs, decoded.rows_as, **fields, applying=applying
        )

    return start(
        decoded,
        targets,
        writer,
        checkpoint=applying.checkpoint,
        sink=applying.sink,
        trigger=trigger,
        others={"target": applying.routing.template.text},
    )
