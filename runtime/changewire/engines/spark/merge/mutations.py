"""What the changes of a batch, or of a log, do to the rows of one table: one row for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import and_
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator
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

from changewire.changes.vendors import USER_KEY_COLUMN, USER_KEY_SYSTEM
from changewire.engines.changelog.shapes import RESCUED
from changewire.engines.json_rows import ROW
from changewire.engines.layout import DECLARED, EFFECT
from changewire.engines.spark.merge.shapes import JsonShape, Shape, TypedShape, arrow_schema
from changewire.engines.spark.parts import names_in, position_columns
from changewire.engines.user_key import ATTRIBUTE, SETS_ROW
from changewire.tables.mutations import APPLIED, DELETE
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


_WRITTEN: Final = "struct<key:string,kind:string,minor:bigint>"


def mutation_type(shape: Shape) -> StructType:
    """Return the columns of the mutations of a table."""
    fields = [
        *_FIELDS,
        StructField(NAMED, shape.named_type),
        StructField(CONTENT, shape.content_type),
        StructField(FAILURE, FAILURE_TYPE),
    ]
    typed = [StructField(ROUNDED, IntegerType()), StructField(RESCUED, StringType())]
    return StructType([*fields, *typed] if shape.is_typed else fields)


def mutations_of(
    rows: DataFrame,
    shape: Shape,
    moved: DataFrame | None = None,
    *,
    has_moves: bool = True,
    misfits: Accumulator[int] | None = None,
) -> DataFrame:
    """Return the effects of changes on the rows of a table; a before image alone does nothing.

    Args:
        rows: Rows of a log.
        shape: How the table has its rows.
        moved: Deletes of keys that rows have left, as `befores.Moved.deletes`.
        has_moves: Whether a change may have moved a row to another key.
        misfits: Gets how many changes do not fit, or not as they are; more if Spark tries again.

    Returns:
        Columns of `mutation_type`. The text of a key is equal for keys that name one row.
    """
    chosen = rows.where(F.col(EFFECT).isin(*APPLIED))
    if USER_KEY_COLUMN in shape.columns.names:
        chosen = chosen.withColumn("after", _with_user_key())
    written, sequence = F.struct("key", _kind().alias("kind"), "sequence.minor"), F.col("sequence")
    if has_moves:
        minor = F.when(sequence.isNotNull(), F.lit(0).cast("bigint"))
        left = F.struct("before_key", F.lit(DELETE).alias("kind"), minor.alias("minor"))
        both = F.array(left.cast(_WRITTEN), written.cast(_WRITTEN))
        is_moved = F.col("before_key").isNotNull()
        each = F.explode(F.when(is_moved, both).otherwise(F.array(written.cast(_WRITTEN))))
        chosen, written = chosen.withColumn("_effect", each), F.col("_effect")
    found = chosen.select(
        written["key"].alias("key"),
        written["kind"].alias("kind"),
        # Spark takes long to send NULL instead of an array to Python.
        _names_of_patch().alias("names"),
        sequence["major"].alias("major"),
        written["minor"].alias("minor"),
        *position_columns(),
        F.when(written["kind"] != DELETE, F.col("after")).alias("after"),
        DECLARED,
    )
    if moved is not None:
        found = found.unionByName(moved.drop("source"))
    if isinstance(shape, JsonShape):
        named = F.struct("key").alias(NAMED)
        nothing = F.lit(None).cast(FAILURE_TYPE).alias(FAILURE)
        return found.select(*_names(), named, F.col("after").alias(CONTENT), nothing)
    return found.select(*_names(), "after", DECLARED).mapInArrow(
        FitMutations(shape, misfits), mutation_type(shape)
    )


def _with_user_key() -> Column:
    """Return the rows of records with their user keys, as `with_user_keys` does."""
    after, key = F.col("after"), F.get_json_object("attributes", f"$.{ATTRIBUTE}")
    member = F.to_json(F.struct(key.alias(USER_KEY_COLUMN)))
    begin = F.substring(member, F.lit(1), F.length(member) - 1)
    comma = F.when(after == "{}", "").otherwise(",")
    text = F.concat(begin, comma, F.substring(after, F.lit(2), F.length(after)))
    is_one = (F.col("source.system") == USER_KEY_SYSTEM) & F.col(EFFECT).isin(*SETS_ROW)
    return F.when(is_one & key.isNotNull(), text).otherwise(after)


def _kind() -> Column:
    return F.when(F.col(EFFECT).isin("keys", "patch"), "patch").otherwise(F.col(EFFECT))


def _names_of_patch() -> Column:
    """Return the columns that a patch sets or removes; none for other effects.

    NULL if Spark does not read them: such a patch is refused.
    """
    nothing = F.array().cast("array<string>")
    images = (
        F.when(F.col(name).isNull(), nothing).otherwise(names_in(name))
        for name in ("after", "before")
    )
    names = F.array_except(F.concat(*images), names_in("key"))
    return F.when(F.col(EFFECT) == "patch", names).otherwise(nothing)


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

    def __init__(self, shape: TypedShape, misfits: Accumulator[int] | None = None) -> None:
        """Remember the columns, and who gets the number of misfits."""
        self._shape, self._misfits = shape, misfits

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the mutations of each batch."""
        schema = arrow_schema(mutation_type(self._shape))
        for batch in batches:
            yield self._fitted(batch, schema)

    def _fitted(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        found = self._shape.rows.fit(columns["key"], columns.pop("after"), columns.pop(DECLARED))
        failures = (found.failures.get(index) for index in range(len(batch)))
        if self._misfits is not None:
            rounded = pc.sum(found.rounded).as_py() or 0
            rescued = len(batch) - found.rescued.null_count
            self._misfits.add(len(found.failures) + rounded + rescued)
        reasons = [why and why._asdict() for why in failures]
        columns |= {
            "key": found.key,
            NAMED: found.named,
            CONTENT: found.content,
            ROUNDED: found.rounded,
            RESCUED: found.rescued,
            FAILURE: pa.array(reasons, schema.field(FAILURE).type),
        }
        arrays = [columns[name].cast(schema.field(name).type) for name in schema.names]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)
