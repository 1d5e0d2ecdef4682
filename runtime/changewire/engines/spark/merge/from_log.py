"""Changes of a log, with their effects on rows: as decoded rows have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import ArrayType, StructField, StructType

from changewire.engines.effects import EFFECTS, effects_of_logged
from changewire.engines.known import KnownLog
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.log import READ
from changewire.engines.spark.merge.shapes import arrow_schema
from changewire.engines.spark.parts import is_lone_before, position_columns
from changewire.tables.mutations import DELETE, WRITES
from changewire.tables.names import Target
from changewire.tables.routing import NAMES, TRUNCATE, Routing, has_one_source
from changewire_messages.tables.spark import ROW_MUTATION

_MOST: Final = 1024


def with_effects(changes: DataFrame, columns: Sequence[str] = READ) -> DataFrame:
    """Return columns of changes of a log with the column `EFFECTS`, for `mutations_of`."""
    chosen = changes.select(*columns)
    kind = StructType([*chosen.schema.fields, StructField(EFFECTS, ArrayType(ROW_MUTATION))])
    return chosen.mapInArrow(_effects, kind)


def _effects(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    kind = arrow_schema(StructType([StructField(EFFECTS, ArrayType(ROW_MUTATION))])).field(0).type
    for batch in batches:
        for start in range(0, len(batch), _MOST):
            part = batch.slice(start, _MOST)
            read = part.select([*READ])
            found = [effects_of_logged(row) for row in read.to_pylist()]
            yield part.append_column(EFFECTS, pa.array(found, kind))


def deletes_something() -> Column:
    """Return the condition that a change of a log may delete a row."""
    return (F.col("op") == DELETE) | F.col("before_key").isNotNull() | is_lone_before()


def feeds(routing: Routing, target: Target, known: KnownLog) -> Any:
    """Return the condition that a row of a log goes to a table."""
    source, named = F.col("source"), F.lit(True)  # noqa: FBT003 - a column of this value
    is_write = F.col("op").isin(*WRITES)
    fields = {name: source[name] for name in NAMES}
    if routing.default_table is not None:
        default = F.when(is_write, F.lit(routing.default_table))
        fields["table"] = F.coalesce(source["table"], default)
    for name, value in zip(routing.template.fields, target.origin, strict=True):
        named = named & fields[name].eqNullSafe(F.lit(value))
    owner = known.tables.sources.get(target) if has_one_source(routing) else None
    for name, field in fields.items() if owner is not None else ():  # as `takes` says
        is_same = field.eqNullSafe(F.lit(getattr(owner, name)))
        named = named & (is_same | (field.isNull() & ~is_write))
    everywhere = F.lit(False)  # noqa: FBT003 - as above
    for system, database in known.namespaces(target):
        is_one = source["system"].eqNullSafe(system) & source["database"].eqNullSafe(
            F.lit(database)
        )
        everywhere = everywhere | is_one
    goes_to_all = (
        (F.col("op") == DELETE) & source["table"].isNull() & source["database"].isNotNull()
    )
    return named | (goes_to_all & everywhere)


def is_change() -> Column:
    """Return the condition that a row of a log is a change with a key."""
    return (F.col("kind") == CHANGE) & F.col("key").isNotNull()


def is_truncate() -> Column:
    """Return the condition that a row is a truncate."""
    return (F.col("kind") == CONTROL) & (F.col("op") == TRUNCATE)


def order_column() -> Column:
    """Return the order of a change, as a struct of its fields."""
    sequence = F.col("sequence")
    return F.struct(
        sequence["major"].alias("major"), sequence["minor"].alias("minor"), *position_columns()
    )


def source_columns() -> list[Column]:
    """Return the fields of the source."""
    return [F.col("source")[name].alias(name) for name in NAMES]
