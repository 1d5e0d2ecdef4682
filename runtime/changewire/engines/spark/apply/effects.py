"""Decoded rows in Spark that say as well what each change does to rows: the column ``effects``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from changewire.engines.effects import EFFECTS, IMAGES, images, rows_of
from changewire.engines.layout import CHANGE
from changewire.engines.spark.apply.failures import FAILURE, FAILURE_FIELD, FAILURE_TYPE, ROW_ID
from changewire.engines.spark.apply.sources import is_from
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.parts import position_columns
from changewire.engines.typed.images import IMAGE
from changewire.tables.batch import PairedUpdate, paired_updates
from changewire.tables.mutations import DELETE
from changewire.tables.routing import Refusal, RouteKey
from changewire_messages.tables.spark import ROW_MUTATION as EFFECT

_GROUP: Final = ("source", "major")
_PLACE: Final = "_place"
_WITH_BEFORE: Final = "_with_before"
_BATCH: Final = 1024

_PAIRED: Final = StructType(
    [
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("element", IntegerType()),
        StructField(EFFECTS, ArrayType(EFFECT)),
        FAILURE_FIELD,
    ]
)
"""Columns of `changewire.tables.batch.PairedUpdate`."""


def with_effects(rows: StructType) -> StructType:
    """Return the type of decoded rows that have `EFFECTS` as well."""
    return StructType([*rows.fields, StructField(EFFECTS, ArrayType(EFFECT))])


def with_images(rows: StructType, row: StructType) -> StructType:
    """Return the type of decoded rows that have `EFFECTS` and `IMAGE` as well."""
    return StructType([*with_effects(rows).fields, StructField(IMAGE, row)])


def effects_of(rows: DataFrame, keys: list[RouteKey]) -> DataFrame:
    """Return what the changes from some sources do to rows, one row for each effect.

    The decoded rows have effects and `ROW_ID`; `FAILURE` says which cannot be applied. `IMAGE` is
    there if they have it.
    """
    effect = F.col("_effect")
    changes = rows.where((F.col("kind") == CHANGE) & is_from(keys))
    exploded = changes.withColumn("_effect", F.explode(EFFECTS))
    failure = F.col(FAILURE) if FAILURE in rows.columns else F.lit(None).cast(FAILURE_TYPE)
    return exploded.select(
        "source",
        *(effect[name].alias(name) for name in ("key", "kind", "names", "sequence")),
        *position_columns(),
        F.when(effect["kind"] != DELETE, F.col("after")).alias("after"),
        ROW_ID,
        failure.alias(FAILURE),
        *(name for name in (IMAGE,) if name in rows.columns),
    )


def with_paired_updates(rows: DataFrame) -> tuple[DataFrame, int]:
    """Return a batch in which an after-image does what it does with its before-image.

    `FAILURE` says of which updates the images cannot be joined. Also return how many had both.
    """
    found = _unpaired(rows).mapInArrow(_paired, _PAIRED).localCheckpoint(eager=False)
    place = [name for name in _PAIRED.names if name not in {EFFECTS, FAILURE}]
    those = found.select(
        F.struct(*place).alias(_PLACE), F.col(EFFECTS).alias(_WITH_BEFORE), FAILURE
    )
    joined = rows.withColumn(_PLACE, F.struct(*position_columns())).join(those, _PLACE, "left")
    effects = F.coalesce(_WITH_BEFORE, EFFECTS)
    # An image is that of the change alone.
    paired = joined.withColumn(EFFECTS, effects).drop(_PLACE, _WITH_BEFORE, IMAGE)
    return paired, found.count()


def _unpaired(rows: DataFrame) -> DataFrame:
    """Return the images of updates whose before-image came, by source and number."""
    is_half = F.col("before").isNull() != F.col("after").isNull()
    is_update = (F.col("kind") == CHANGE) & (F.col("op") == "update") & F.col("key").isNotNull()
    unpaired = rows.where(is_update & is_half).select(
        *IMAGES, *position_columns(), F.col("sequence.major").alias("major")
    )
    befores = unpaired.where(F.col("after").isNull()).select(*_GROUP).distinct()
    is_same = [unpaired[name].eqNullSafe(befores[name]) for name in _GROUP]
    return (
        unpaired.join(befores, is_same, "left_semi")
        .repartition(*_GROUP)
        .sortWithinPartitions(*_GROUP)
    )


def _paired(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the paired updates of rows that are sorted by `_GROUP`; what `mapInArrow` takes."""
    schema = pa.schema([*arrow_type(_PAIRED)])
    rows = chain.from_iterable(batch.to_pylist() for batch in batches)
    groups = (paired_updates(images(group)) for _, group in groupby(rows, key=_group))
    found = map(_row, chain.from_iterable(groups))
    while some := [*islice(found, _BATCH)]:
        yield pa.RecordBatch.from_pylist(some, schema)


def _row(update: PairedUpdate) -> dict[str, Any]:
    found = update.mutations
    if isinstance(found, Refusal):
        return {**update.position._asdict(), FAILURE: found._asdict()}
    return {**update.position._asdict(), EFFECTS: rows_of(found)}


def _group(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["major"], *row["source"].values()
