"""Halves of updates that meet in a batch, so that they do to rows what the whole does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from changewire.engines.effects import EFFECTS
from changewire.engines.halves import READ, Whole, wholes
from changewire.engines.layout import CHANGE
from changewire.engines.spark.apply.effects import EFFECT
from changewire.engines.spark.apply.failures import FAILURE, FAILURE_FIELD
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.parts import position_columns

_GROUP: Final = ("source", "major")
_PLACE: Final = "_place"
_WITH_BEFORE: Final = "_with_before"
_BATCH: Final = 1024

_WHOLE: Final = StructType(
    [
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("element", IntegerType()),
        StructField(EFFECTS, ArrayType(EFFECT)),
        FAILURE_FIELD,
    ]
)
"""Columns of `changewire.engines.halves.Whole`."""


def with_wholes(rows: DataFrame) -> tuple[DataFrame, int]:
    """Return a batch in which a row after an update does what it does with the row before it.

    Args:
        rows: Decoded rows with effects.

    Returns:
        The rows, with `FAILURE` where two halves cannot be joined, and how many updates had both.
    """
    found = _halves(rows).mapInArrow(_wholes, _WHOLE).localCheckpoint(eager=False)
    place = [name for name in _WHOLE.names if name not in {EFFECTS, FAILURE}]
    those = found.select(
        F.struct(*place).alias(_PLACE), F.col(EFFECTS).alias(_WITH_BEFORE), FAILURE
    )
    joined = rows.withColumn(_PLACE, F.struct(*position_columns())).join(those, _PLACE, "left")
    effects = F.coalesce(_WITH_BEFORE, EFFECTS)
    return joined.withColumn(EFFECTS, effects).drop(_PLACE, _WITH_BEFORE), found.count()


def _halves(rows: DataFrame) -> DataFrame:
    """Return the halves of updates of which at least the row before came, by source and number."""
    is_half = F.col("before").isNull() != F.col("after").isNull()
    is_update = (F.col("kind") == CHANGE) & (F.col("op") == "update") & F.col("key").isNotNull()
    halves = rows.where(is_update & is_half).select(
        *READ, *position_columns(), F.col("sequence.major").alias("major")
    )
    befores = halves.where(F.col("after").isNull()).select(*_GROUP).distinct()
    is_same = [halves[name].eqNullSafe(befores[name]) for name in _GROUP]
    return (
        halves.join(befores, is_same, "left_semi")
        .repartition(*_GROUP)
        .sortWithinPartitions(*_GROUP)
    )


def _wholes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the wholes of rows that are sorted by `_GROUP`; what `mapInArrow` takes."""
    schema = pa.schema([*arrow_type(_WHOLE)])
    rows = chain.from_iterable(batch.to_pylist() for batch in batches)
    groups = (wholes(group) for _, group in groupby(rows, key=_group))
    found = map(_row, chain.from_iterable(groups))
    while some := [*islice(found, _BATCH)]:
        yield pa.RecordBatch.from_pylist(some, schema)


def _row(whole: Whole) -> dict[str, Any]:
    failure = whole.failure and whole.failure._asdict()
    return {**whole.position._asdict(), EFFECTS: whole.effects, FAILURE: failure}


def _group(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["major"], *row["source"].values()
