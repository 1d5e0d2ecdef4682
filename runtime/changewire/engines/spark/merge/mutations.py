"""What the changes of a batch, or of a log, do to the rows of one table: one row for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import and_
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from changewire.engines.effects import EFFECTS
from changewire.engines.json_rows import ROW
from changewire.engines.layout import CHANGE
from changewire.engines.spark.merge.shapes import JsonShape, Shape, TypedShape, arrow_schema
from changewire.engines.spark.parts import is_lone_before, position_columns
from changewire.engines.typed.images import IMAGE
from changewire.tables.mutations import DELETE
from changewire.tables.routing import Refusal
from changewire.tables.row_state import ORDER

NAMED: Final = "named"
"""Column: the columns of the table's key, as a struct."""

CONTENT: Final = "content"
"""Column: the row, in the type that its `Shape` has; NULL for a delete."""

FAILURE: Final = "failure"
"""Column: why the change does not fit the table; NULL if it does."""

ROUNDED: Final = "rounded"
"""Column of typed rows: how many numbers were rounded to fit the table."""

FAILURE_TYPE: Final = StructType([StructField(name, StringType()) for name in Refusal._fields])

PLACE: Final = ORDER[2:]
"""Columns of the position of a change."""

ORDER_FIELDS: Final = [
    StructField("major", LongType()),
    StructField("minor", LongType()),
    StructField("topic", StringType()),
    StructField("partition", IntegerType()),
    StructField("offset", LongType()),
    StructField("element", IntegerType()),
]

_FIELDS: Final = [
    StructField("key", StringType()),
    StructField("kind", StringType()),
    StructField("names", ArrayType(StringType())),
    *ORDER_FIELDS,
]


def mutation_type(shape: Shape) -> StructType:
    """Return the columns of the mutations of a table."""
    fields = [
        *_FIELDS,
        StructField(NAMED, shape.named_type),
        StructField(CONTENT, shape.content_type),
        StructField(FAILURE, FAILURE_TYPE),
    ]
    return StructType([*fields, StructField(ROUNDED, IntegerType())] if shape.is_typed else fields)


def mutations_of(
    rows: DataFrame, shape: Shape, moved: DataFrame | None = None, *, are_known: bool = False
) -> DataFrame:
    """Return the effects of changes on the rows of a table; a before image alone does nothing.

    Args:
        rows: Decoded rows of changes of the table, with `EFFECTS`, and perhaps `IMAGE`.
        shape: How the table has its rows.
        moved: Deletes of keys that rows have left, as `befores.Moved.deletes`.
        are_known: Whether all of them have `IMAGE`.

    Returns:
        Columns of `mutation_type`. The text of a key is equal for keys that name one row.
    """
    effect = F.col("_effect")
    exploded = rows.where(F.col("kind") == CHANGE).withColumn("_effect", F.explode(EFFECTS))
    found = exploded.where(~is_lone_before()).select(
        effect["key"].alias("key"),
        effect["kind"].alias("kind"),
        effect["names"].alias("names"),
        effect["sequence"]["major"].alias("major"),
        effect["sequence"]["minor"].alias("minor"),
        *position_columns(),
        F.when(effect["kind"] != DELETE, F.col("after")).alias("after"),
        *(name for name in (IMAGE,) if name in rows.columns),
    )
    if moved is not None:
        found = found.unionByName(moved.drop("source"), allowMissingColumns=True)
    if isinstance(shape, JsonShape):
        named = F.struct("key").alias(NAMED)
        nothing = F.lit(None).cast(FAILURE_TYPE).alias(FAILURE)
        return found.select(*_names(), named, F.col("after").alias(CONTENT), nothing)
    return _fitted(found, shape, are_known=are_known)


def row_values(shape: Shape) -> dict[str, Column]:
    """Return the columns of a table's rows but its own, of `NAMED` and `CONTENT`."""
    named, content = F.col(NAMED), F.col(CONTENT)
    if isinstance(shape, JsonShape):
        row = {ROW: content}
    else:
        row = {name: content[name] for name in shape.content_type.names}
    return {**row, **{name: named[name] for name in shape.keys}}


def is_row_of(row: Column, shape: Shape) -> Column:
    """Return the condition that a row of a table has the key `NAMED`."""
    named = F.col(NAMED)
    return reduce(and_, (row[name].eqNullSafe(named[name]) for name in shape.keys))


def _names() -> list[str]:
    return [field.name for field in _FIELDS]


def _fitted(found: DataFrame, shape: TypedShape, *, are_known: bool) -> DataFrame:
    """Return mutations with the columns of the table; those with `IMAGE` need no Python."""
    wanted = [*_names(), "after"]
    fit = FitMutations(shape)
    kind = mutation_type(shape)
    if IMAGE not in found.columns or not _is_image_of(found, shape):
        return found.select(*wanted).mapInArrow(fit, kind)
    image = F.col(IMAGE)
    known = found.where(image.isNotNull()).select(
        *_names(),
        F.struct(*(image[name].alias(name) for name in shape.keys)).alias(NAMED),
        F.when(F.col("kind") == DELETE, None).otherwise(_row(found, shape)).alias(CONTENT),
        F.lit(None).cast(FAILURE_TYPE).alias(FAILURE),
        F.lit(0).alias(ROUNDED),  # a row with rounded numbers has no image
    )
    if are_known:
        return known
    others = found.where(image.isNull()).select(*wanted)
    return known.unionByName(others.mapInArrow(fit, kind))


def _is_image_of(found: DataFrame, shape: TypedShape) -> bool:
    """Whether images have columns of the table alone, of the same types, and those of its key."""
    given, row = _kinds(found.schema[IMAGE].dataType), _kinds(shape.content_type)
    return {*shape.keys} <= given.keys() and given.items() <= row.items()


def _row(found: DataFrame, shape: TypedShape) -> Column:
    """Return `IMAGE` as a row of the table; columns that it lacks are NULL."""
    image, given = F.col(IMAGE), _kinds(found.schema[IMAGE].dataType)
    fields = [
        (field, image[field.name] if field.name in given else F.lit(None))
        for field in shape.content_type.fields
    ]
    return F.struct(*(column.cast(field.dataType).alias(field.name) for field, column in fields))


def _kinds(row: Any) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in row.fields}


def is_newer(one: str, other: str) -> str:
    """Return the condition in SQL that one column of order fields is newer than another.

    The first numbers are compared alone before all fields are, which is quicker. NULL instead of
    the first number is older than any.
    """
    parts = [", ".join(f"{column}.`{name}`" for name in ORDER[1:]) for column in (one, other)]
    first, second = f"{one}.`major`", f"{other}.`major`"
    is_later = f"{first} = {second} AND struct({parts[0]}) > struct({parts[1]})"
    return f"({second} IS NULL OR {first} > {second} OR ({is_later}))"


class FitMutations:
    """Fits mutations into the columns of a table; what `mapInArrow` takes.

    The text of each key is written again from its columns, so that two keys have one text if and
    only if they name one row of the table.
    """

    def __init__(self, shape: TypedShape) -> None:
        """Remember the columns."""
        self._shape = shape

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the mutations of each batch."""
        schema = arrow_schema(mutation_type(self._shape))
        for batch in batches:
            yield self._fitted(batch, schema)

    def _fitted(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        found = self._shape.fit(columns["key"], columns.pop("after"))
        failures = (found.failures.get(index) for index in range(len(batch)))
        reasons = [why and why._asdict() for why in failures]
        columns |= {
            "key": found.key,
            NAMED: found.named,
            CONTENT: found.content,
            ROUNDED: found.rounded,
            FAILURE: pa.array(reasons, schema.field(FAILURE).type),
        }
        arrays = [columns[name].cast(schema.field(name).type) for name in schema.names]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)
