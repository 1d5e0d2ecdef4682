"""What the changes of one table do to its rows, from a change log in Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import ArrayType, StructField, StructType

from changewire.engines.changelog.logged import LOGGED, logged
from changewire.engines.effects import EFFECTS, rows_of
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE
from changewire.engines.spark.apply.effects import paired_updates_of, with_pairs
from changewire.engines.spark.apply.failures import FAILURE, FAILURE_TYPE, ROW_ID
from changewire.engines.spark.parts import position_columns
from changewire.engines.spark.types import ROWS
from changewire.tables.mutations import DELETE, mutations
from changewire.tables.names import NO_TABLE
from changewire.tables.order import Order, sequence_of
from changewire.tables.routing import TRUNCATE
from changewire.tables.version_rows import ChangeNote
from changewire_messages.tables.arrow import ROW_MUTATION as ARROW_EFFECT
from changewire_messages.tables.spark import ROW_MUTATION as EFFECT

NOTE: Final = ("op", "event_time")
"""Columns of `changewire.tables.version_rows.ChangeNote`."""

LOG: Final = StructType([StructField(name, ROWS[name].dataType) for name in LOGGED.names])
"""The columns `LOGGED`."""


def of_table(log: DataFrame, table: str) -> DataFrame:
    """Return the changes of a table, and the deletes of all tables of its database.

    Args:
        log: A change log, or control events.
        table: `changewire.tables.names.dotted` name of the table.

    Raises:
        OutputError: A column is not there, or is of another type.
    """
    for field in LOG.fields:
        found = log.schema[field.name].dataType if field.name in log.columns else None
        if found is None or found.simpleString() != field.dataType.simpleString():
            kind = "not there" if found is None else found.simpleString()
            raise OutputError(
                f"no change log with rows as JSON text: its column {field.name} is {kind}"
            )
    name = _dotted()
    is_above = F.startswith(F.lit(table), F.concat(name, F.lit(".")))
    is_for_all = (F.col("op") == DELETE) & F.col("source.table").isNull() & is_above
    return log.where((name == table) | is_for_all).select(*LOG.names)


def _dotted() -> Column:
    parts = (F.nullif(F.col("source")[name], F.lit("")) for name in ("database", "schema", "table"))
    return F.coalesce(F.nullif(F.concat_ws(".", *parts), F.lit("")), F.lit(NO_TABLE))


def effects_in(log: DataFrame) -> DataFrame:
    """Return what changes do to rows, one row for each effect, with `NOTE` and `FAILURE`.

    The images of updates are paired.
    """
    kind = StructType([*LOG.fields, StructField(EFFECTS, ArrayType(EFFECT))])
    rows = log.mapInArrow(_with_effects, kind).withColumn("kind", F.lit(CHANGE))
    effect = F.col("_effect")
    paired = with_pairs(rows, paired_updates_of(rows)).withColumn("_effect", F.explode(EFFECTS))
    return paired.select(
        F.lit(None).cast("bigint").alias(ROW_ID),
        *(effect[name].alias(name) for name in ("key", "kind", "names", "sequence")),
        *position_columns(),
        F.when(effect["kind"] != DELETE, F.col("after")).alias("after"),
        F.col(FAILURE).cast(FAILURE_TYPE).alias(FAILURE),
        *NOTE,
    )


def _with_effects(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield changes of a log with what they do to rows; what `mapInArrow` takes."""
    for batch in batches:
        found = [rows_of(mutations(one.change, one.position)) for one in logged(batch)]
        yield batch.append_column(EFFECTS, pa.array(found, pa.list_(ARROW_EFFECT)))


def truncates_in(controls: DataFrame) -> list[tuple[Order, ChangeNote]]:
    """Return the truncates of control events that have a sequence; the driver holds them."""
    found = controls.where((F.col("op") == TRUNCATE) & F.col("sequence").isNotNull())
    return truncates_of(found.toArrow())


def truncates_of(controls: pa.Table) -> list[tuple[Order, ChangeNote]]:
    """Return truncates of columns `LOGGED`."""
    return [
        (Order(sequence_of(one.change.sequence), one.position), one.note)
        for batch in controls.select(LOGGED.names).cast(LOGGED).to_batches()
        for one in logged(batch)
    ]
