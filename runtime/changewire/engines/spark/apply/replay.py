"""Dead letters, decoded again: what is good by now is applied in its original order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, Literal, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructField, StructType, TimestampType

from changewire.changes import Digests, Image, NullValue
from changewire.changes.reading import Reading
from changewire.engines.counts import Counts
from changewire.engines.spark.apply.applying import Applying, row_types, with_effects_of
from changewire.engines.spark.apply.batch import TablesWriter
from changewire.engines.spark.apply.evolve import SchemaEvolution
from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.merge import as_is
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.row_type import RowSchema
from changewire.engines.spark.stream.output import Output
from changewire.engines.spark.stream.progress import TableCounts
from changewire.engines.spark.stream.sinks import BatchId
from changewire.tables.names import template_of
from changewire.tables.routing import Routing

REPLAYED: Final = "replayed"
"""Column of dead letters: when what they hold was applied."""

_RECORD: Final = ("topic", "partition", "offset", "path", "number")
_PLACE: Final = (*_RECORD, "element")


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
    change_log: str,
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
    rows: Literal["json", "embedded"] | StructType | RowSchema = "json",
    schema_evolution: SchemaEvolution = "add_columns",
    null_set: str | None = None,
    apply_as_truncates: bool = False,
) -> Replayed:
    """Decode dead letters again, and apply what is good by now.

    Changes have their original order, so what is newer by now stays. What is good goes to the
    change log or the control events, unless it is there, and its dead letter is marked: so a replay
    that is done again, or ended on the way, applies nothing twice. What is still refused stays.

    Args:
        spark: The session.
        format: As in `apply_changes`, as are `target`, `change_log`, `controls`, `dead_letters`,
            `image`, `keys`, `families`, `digests`, `null_value`, `rows`, `schema_evolution`,
            `null_set` and `apply_as_truncates`: now with what makes the messages good.
        target: See there.
        change_log: See there.
        controls: See there.
        dead_letters: See there.
        checkpoint: Folder of the query's checkpoint, which says what tables it has fed.
        where: Condition in SQL, such as ``"code = 'unknown-variant'"``; None for all dead letters.
        sink: Table format, of the outputs too.
        image: See there.
        keys: See there.
        families: See there.
        digests: See there.
        null_value: See there.
        rows: See there.
        schema_evolution: See there.
        null_set: See there.
        apply_as_truncates: See there.

    Raises:
        ValueError: An argument is none.
        OutputError: A table has other columns.
        ConflictError: Other writers did not let a merge be done.
    """
    reading = Reading(format, image, keys, families, digests, null_value)
    types = row_types(rows, reading, schema_evolution)
    routing = Routing(template_of(target), null_set)
    applying = Applying(routing, types, sink, checkpoint, apply_as_truncates)
    letters_output = Output("dead_letters", dead_letters)
    outputs = [Output("controls", controls), Output("change_log", change_log)]
    letters = _letters(spark, letters_output, applying.tables, where)
    number = letters.count()
    decoded = with_effects_of(letters.dropDuplicates([*_RECORD]), types)
    nobody = dict.fromkeys(("max_dead_letters", "notice", "metrics", "written", "topic"))
    writer = _Replay("", sink, outputs, "json", **nobody, applying=applying)
    wanted = _wanted(decoded.rows, letters, _landed(spark, outputs, sink))
    # Persisted rows would be computed anew, and be none, as soon as they have landed.
    tables = writer.write(Decoded(wanted.localCheckpoint()))
    landed = _landed(spark, outputs, sink)
    return Replayed(number, _mark(spark, letters_output, landed, applying.tables), tables)


@dataclass(frozen=True)
class _Replay(TablesWriter):
    """Writes what is good; what is not is a dead letter already."""

    def write(self, decoded: Decoded) -> TableCounts:
        """Write what is good; return what became of it in tables."""
        # Numbers of batches start at 0, so this is none of the query's.
        return self._write(decoded, BatchId(self.query, time.time_ns()))[1]

    def _check(self, decoded: Decoded, batch: BatchId) -> None:
        """Check nothing: what cannot be applied stays a dead letter."""

    def _land(self, decoded: Decoded, batch: BatchId) -> Counts:
        del batch
        for output in self.outputs:
            _append(output.rows(decoded), output, self.sink)
        return Counts()


def _letters(
    spark: SparkSession, output: Output, format: TableFormat, where: str | None
) -> DataFrame:
    """Return the dead letters that are not marked."""
    found = _read(spark, output, format.name)
    if REPLAYED not in found.columns:
        kind = StructType([*found.schema.fields, StructField(REPLAYED, TimestampType())])
        format.evolve(spark, output.target, kind)
        found = _read(spark, output, format.name)
    found = found.where(F.col(REPLAYED).isNull())
    return found if where is None else found.where(where)


def _landed(spark: SparkSession, outputs: Sequence[Output], sink: str) -> DataFrame:
    """Return the places of the elements that have landed."""
    return reduce(DataFrame.union, (_read(spark, one, sink).select(*_PLACE) for one in outputs))


def _wanted(rows: DataFrame, letters: DataFrame, landed: DataFrame) -> DataFrame:
    """Return the elements that are dead letters and have not landed.

    A message that could not be read has one dead letter, of its first element, and none of its
    elements has landed.
    """
    record, place = F.struct(*_RECORD).alias("_record"), F.struct(*_PLACE).alias("_place")
    asked = letters.groupBy(record).agg(F.collect_set("element").alias("_asked"))
    found = rows.select("*", record, place)
    found = found.join(landed.select(place).distinct(), "_place", "left_anti")
    found = found.join(asked, "_record")
    is_first_alone = F.col("_asked") == F.array(F.lit(0))
    is_asked = F.array_contains("_asked", F.col("element"))
    return found.where(is_asked | is_first_alone).select(*rows.columns)


def _mark(spark: SparkSession, output: Output, landed: DataFrame, format: TableFormat) -> int:
    """Mark the dead letters whose elements have landed; return how many."""
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


def _read(spark: SparkSession, output: Output, sink: str) -> DataFrame:
    if output.is_path:
        return spark.read.format(sink).load(output.target)
    return spark.table(output.target)


def _append(rows: DataFrame, output: Output, sink: str) -> None:
    output.save(rows.write.format(sink).mode("append").option("mergeSchema", "true"))
