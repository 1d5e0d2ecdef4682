"""What the changes of one table do to its rows, from a change log in Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StringType, StructField, StructType, TimestampType

from changewire.engines.changelog.logged import LOGGED, LoggedChange, logged, paired, truncates_of
from changewire.engines.effects import rows_of
from changewire.engines.errors import OutputError
from changewire.engines.spark.apply.typed_shape import EFFECT_FIELDS
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.types import ROWS
from changewire.tables.mutations import DELETE, mutations
from changewire.tables.names import NO_TABLE
from changewire.tables.order import Order
from changewire.tables.routing import TRUNCATE
from changewire.tables.version_rows import ChangeNote
from changewire_messages.change import Source

LOG: Final = StructType([StructField(name, ROWS[name].dataType) for name in LOGGED.names])
"""The columns `LOGGED`."""

NOTED: Final = StructType(
    [
        *EFFECT_FIELDS,
        StructField("after", StringType()),
        StructField("op", StringType()),
        StructField("event_time", TimestampType()),
    ]
)
"""Columns of effects, with operation and time of their changes."""

_MAJOR: Final = "_major"
_BATCH: Final = 1024


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
    """Return what changes do to rows, one row for each effect, as `NOTED` has it.

    Images of updates are paired as `changewire.engines.changelog.logged.paired` says: those of one
    source and number are read together.
    """
    has_one_image = F.col("before").isNull() != F.col("after").isNull()
    is_whole = F.coalesce(F.get_json_object("attributes", "$.image"), F.lit("full")) == "full"
    is_image = (F.col("op") == "update") & has_one_image & ~is_whole
    images = log.where(is_image).withColumn(_MAJOR, F.col("sequence.major"))
    together = images.repartition("source", _MAJOR).sortWithinPartitions("source", _MAJOR)
    others = log.where(~is_image).mapInArrow(_effects, NOTED)
    return others.unionAll(together.drop(_MAJOR).mapInArrow(_paired_effects, NOTED))


def _effects(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what changes do to rows; what `mapInArrow` takes."""
    for batch in batches:
        yield effects_of(logged(batch))


def effects_of(changes: Iterable[LoggedChange]) -> pa.RecordBatch:
    """Return what changes do to rows, as `NOTED` has it."""
    rows = [row for one in changes for row in _rows(one)]
    return pa.RecordBatch.from_pylist(rows, pa.schema([*arrow_type(NOTED)]))


def _paired_effects(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same of images of updates that are sorted by source and number."""
    schema = pa.schema([*arrow_type(NOTED)])
    images = chain.from_iterable(map(logged, batches))
    groups = (group for _, group in groupby(images, key=_update))
    rows = (row for group in groups for one in paired(group) for row in _rows(one))
    while some := [*islice(rows, _BATCH)]:
        yield pa.RecordBatch.from_pylist(some, schema)


def _update(one: LoggedChange) -> tuple[Source, int | None]:
    """Return what the images of an update have in common."""
    sequence = one.change.sequence
    return one.change.source, None if sequence is None else sequence.major


def _rows(one: LoggedChange) -> Iterator[dict[str, Any]]:
    """Yield the effects of a change."""
    for row in rows_of(mutations(one.change, one.position)):
        after = None if row["kind"] == DELETE else one.after
        yield {**row, **one.position._asdict(), **one.note._asdict(), "after": after}


def truncates_in(controls: DataFrame) -> list[tuple[Order, ChangeNote]]:
    """Return the truncates of control events that have a sequence; the driver holds them."""
    found = controls.where(F.col("op") == TRUNCATE).toArrow().cast(LOGGED)
    return [*truncates_of(chain.from_iterable(map(logged, found.to_batches())))]
