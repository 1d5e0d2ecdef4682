"""Dead letters, decoded again: those that are valid by now are applied in their original order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Final, Literal, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructField, StructType, TimestampType

from changewire.changes import Digests, Image, NullValue
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.errors import HistoryMissingError
from changewire.engines.layout import DEAD_LETTER, RECORD_PLACE
from changewire.engines.options import (
    MergeCounts,
    StreamOptions,
    StreamOutputs,
    TableCounts,
    TableOptions,
)
from changewire.engines.spark.apply.batch import apply_batch
from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.history.stream import log_of
from changewire.engines.spark.apply.options import (
    ApplyOptions,
    apply_options_of,
    with_effects_of,
)
from changewire.engines.spark.apply.tuning import batch_settings
from changewire.engines.spark.apply.writing import as_is
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.stream.output import Output
from changewire.engines.typed.evolve import SchemaEvolution
from changewire.engines.typed.schemas import ArrowSchema, RowSchema
from changewire.tables.names import template_of
from changewire.tables.version_rows import VersionNames

REPLAYED: Final = "replayed"
"""Column of dead letters: when what they hold was applied."""

_PLACE: Final = (*RECORD_PLACE, "element")
_ELEMENT: Final = "_element"


class Replayed(NamedTuple):
    """What a replay did.

    Attributes:
        letters: Dead letters that were looked at.
        marked: How many of them are marked now.
        tables: What became of the changes, as `changewire.tables.Result.counts`.
    """

    letters: int
    marked: int
    tables: TableCounts


def replay(
    spark: SparkSession,
    *,
    format: str,
    target: str,
    changes: str,
    controls: str,
    dead_letters: str,
    checkpoint: str,
    where: str | None = None,
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
) -> Replayed:
    """Decode dead letters again, and apply those that are valid by now.

    Changes have their original order, so what is newer by now stays. Valid ones go to the change
    log or the control events, unless they are there, and their dead letters are marked: so a replay
    that is retried, or was interrupted, applies nothing twice. What is still rejected stays.

    Args:
        spark: The session.
        format: Public name of the format, or ``auto``. This and the other options are those of
            `apply_changes`, now with what makes the messages valid.
        target: Name or path of the tables, with fields for names of the source.
        changes: Table or path of the changes.
        controls: Table or path of the control events.
        dead_letters: Table or path of the dead letters.
        checkpoint: Folder of the query's checkpoint, which says what tables it has fed.
        where: Condition in SQL, such as ``"code = 'unknown-variant'"``; None for all dead letters.
        sink: Table format, of tables and outputs.
        image: What a message holds of its row after a write: ``full``, ``patch`` or ``keys``.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table.
        digests: What becomes of a record whose digest is not that of its set and user key:
            ``count`` or ``refuse`` it; ``off`` does not compare.
        null_value: What a record without value is: ``control`` or ``delete``.
        time_zone: IANA name of the zone whose clocks made the dates of DataWorks messages: that of
            the task that synchronizes.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys.
        rows: How tables have their rows: ``json``, columns of a type, or ``embedded``.
        schema_evolution: What becomes of a column that a table lacks or has of a narrower type:
            ``add_columns`` adds or widens it, ``strict`` makes the change a dead letter.
        null_set: Table of writes that name none.
        apply_as_truncates: Whether a truncate removes the rows that are older.
        history: Name or path of the tables of versions; by default, and if the query keeps some,
            those that it keeps.
        history_names: How their columns are named.

    Returns:
        How many dead letters there were, how many are marked, and what became of the changes.

    Raises:
        ValueError: An argument is not valid.
        OutputError: A table has other columns.
        ConflictError: Other writers did not let a merge be done.
    """
    outputs = StreamOutputs(changes, controls, dead_letters)
    return replay_letters(
        spark,
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
        StreamOptions(outputs, checkpoint, sink),
        where,
    )


def replay_letters(
    spark: SparkSession,
    decode_options: DecodeOptions,
    table_options: TableOptions,
    stream_options: StreamOptions,
    where: str | None = None,
) -> Replayed:
    """Decode dead letters again, as `replay` does."""
    sink, targets = stream_options.sink, stream_options.outputs._asdict()
    options = apply_options_of(decode_options, table_options, sink, stream_options.checkpoint)
    controls, changes, letters_output = (
        Output(name, targets[name]) for name in ("controls", "changes", "dead_letters")
    )
    outputs = [controls, changes]
    letters = _letters(spark, letters_output, options.tables, where)
    number = letters.count()
    decoded = with_effects_of(letters.dropDuplicates([*RECORD_PLACE]), options)
    # Persisted rows would be computed anew as soon as some have landed.
    landed = _landed(spark, outputs, sink).localCheckpoint()
    kept = DecodedFrames(_wanted(decoded.rows, letters, landed).localCheckpoint())
    accepted: list[DataFrame] = []

    def land(decoded: DecodedFrames) -> None:
        """Append what is not there yet; tables take a change that they have as a duplicate."""
        rows = decoded.rows.withColumn(_ELEMENT, F.struct(*_PLACE))
        accepted.append(rows.where(F.col("kind") != DEAD_LETTER).select(*_PLACE).localCheckpoint())
        new = rows.join(landed, _ELEMENT, "left_anti")
        for output in outputs:
            writer = output.rows(replace(decoded, rows=new)).write.format(sink).mode("append")
            output.save(writer.option("mergeSchema", "true"))

    def check(decoded: DecodedFrames) -> None:
        """Check nothing: what cannot be applied stays a dead letter."""

    def apply(options: ApplyOptions) -> MergeCounts:
        # Numbers of batches start at 0, so no batch of the query has this one.
        number, log = time.time_ns(), log_of(stream_options)
        with batch_settings(spark):
            return apply_batch(kept, number, options, check=check, land=land, log=log)[1]

    try:
        merged = apply(options)
    except HistoryMissingError as error:
        if options.history is not None:
            raise
        there = error.kept  # nothing was written yet
        history = template_of(there.history)
        merged = apply(replace(options, history=history, history_names=there.names))
    marked = _mark(spark, letters_output, accepted[-1], options.tables)
    return Replayed(number, marked, merged.tables)


def _letters(
    spark: SparkSession, output: Output, format: TableFormat, where: str | None
) -> DataFrame:
    """Return the dead letters that are not marked."""
    found = output.read(spark, format.name)
    if REPLAYED not in found.columns:
        kind = StructType([*found.schema.fields, StructField(REPLAYED, TimestampType())])
        format.evolve(spark, output.target, kind)
        found = output.read(spark, format.name)
    found = found.where(F.col(REPLAYED).isNull())
    return found if where is None else found.where(where)


def _landed(spark: SparkSession, outputs: Sequence[Output], sink: str) -> DataFrame:
    """Return the places of the elements that have landed, as `_ELEMENT`, each once."""
    place = F.struct(*_PLACE).alias(_ELEMENT)
    found = (one.read(spark, sink).select(place) for one in outputs)
    return reduce(DataFrame.union, found).distinct()


def _wanted(rows: DataFrame, letters: DataFrame, landed: DataFrame) -> DataFrame:
    """Return the elements that are dead letters.

    A message that could not be read has one dead letter, of its first element, and none of its
    elements has landed. A change that could not be applied after it had landed is a dead letter
    too.
    """
    record, place = F.struct(*RECORD_PLACE).alias("_record"), F.struct(*_PLACE).alias(_ELEMENT)
    asked = letters.groupBy(record).agg(F.collect_set("element").alias("_asked"))
    found = rows.select("*", record, place)
    has_landed = landed.withColumn("_has_landed", F.lit(True))  # noqa: FBT003 - a value of SQL
    found = found.join(has_landed, _ELEMENT, "left").join(asked, "_record")
    is_unread = (F.col("_asked") == F.array(F.lit(0))) & F.col("_has_landed").isNull()
    is_asked = F.array_contains("_asked", F.col("element"))
    return found.where(is_asked | is_unread).select(*rows.columns)


def _mark(spark: SparkSession, output: Output, landed: DataFrame, format: TableFormat) -> int:
    """Mark the dead letters of elements that have landed and were applied; return how many."""
    table = format.identifier(output.target)
    marked = spark.table(table).where(F.col(REPLAYED).isNotNull())
    before = marked.count()
    source = landed.select(F.struct(*_PLACE).alias("_landed")).distinct()
    is_same = " AND ".join(f"`{name}` <=> _landed.`{name}`" for name in _PLACE)
    statement = (
        f"MERGE INTO {as_is(table)} USING {{source}} ON {is_same} "
        f"WHEN MATCHED AND {REPLAYED} IS NULL THEN UPDATE SET {REPLAYED} = current_timestamp()"
    )
    spark.sql(statement, source=source)
    return marked.count() - before
