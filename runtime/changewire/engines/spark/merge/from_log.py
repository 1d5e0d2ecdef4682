"""Conditions on the rows of a log, and their effects on rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines import effects
from changewire.engines.known import KnownLog
from changewire.engines.layout import CHANGE, CONTROL, DECLARED, EFFECT
from changewire.engines.spark.parts import has_name, position_columns, table_name
from changewire.tables.mutations import DELETE, WRITES
from changewire.tables.names import Target
from changewire.tables.routing import NAMES, TRUNCATE, Routing, has_one_source


def with_effects(rows: DataFrame) -> DataFrame:
    """Return rows of a log with the effects of changes that were landed before logs had them."""
    is_old = is_incomplete()
    old = rows.where(is_old)
    if old.isEmpty():
        return rows
    schema = rows.schema

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from effects.with_effects(pa.Table.from_batches([batch])).to_batches()

    return rows.where(~F.coalesce(is_old, F.lit(False))).unionByName(  # noqa: FBT003 - a column
        old.mapInArrow(each, schema)
    )


def is_incomplete() -> Column:
    """Return the condition that a change was landed before logs had all that is read of it."""
    lacks_columns = F.col("after").isNotNull() & F.col(DECLARED).isNull()
    return (F.col("kind") == CHANGE) & (F.col(EFFECT).isNull() | lacks_columns)


def deletes_something() -> Column:
    """Return the condition that a change of a log may delete a row."""
    is_before = F.col(EFFECT) == "before"
    return (F.col("op") == DELETE) | F.col("before_key").isNotNull() | is_before


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
    if not routing.chosen.are_all:
        named = named & is_chosen(routing)
    return named | (goes_to_all & everywhere)


def is_chosen(routing: Routing) -> Column:
    """Return the condition that a row of a log is of a table that is not left out."""
    is_write = F.col("op").isin(*WRITES)
    name = table_name(F.when(is_write, F.lit(routing.default_table)))
    is_for_others = ~is_write & F.col("source")["table"].isNull()
    return has_name(name, routing.chosen) | is_for_others


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
