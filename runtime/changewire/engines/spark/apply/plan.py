"""Which columns the tables of a batch have, and which of its changes do not fit them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructField, StructType

from changewire.changes import embedded
from changewire.changes.reading import Reading
from changewire.codec import codec
from changewire.engines.errors import OutputError
from changewire.engines.kept import SUFFIX
from changewire.engines.spark.apply.applying import Applying
from changewire.engines.spark.apply.evolve import evolved
from changewire.engines.spark.apply.metadata import METADATA
from changewire.engines.spark.apply.places import check_columns, keys_of
from changewire.engines.spark.apply.refuse import Refusal
from changewire.engines.spark.apply.routes import SchemaOf, Sources, is_from
from changewire.engines.spark.apply.shape import JsonShape, Shape
from changewire.engines.spark.apply.typed_shape import TypedShape
from changewire.engines.spark.row_type import row_type
from changewire.engines.spark.stream.compatible import schema_of
from changewire.engines.spark.stream.output import Output
from changewire.engines.spark.types import nullable
from changewire.tables.metadata import COLUMN
from changewire.tables.names import Target, beside
from changewire.tables.ways import WRITE, From

_NONE: Final = ""
"""Stands for the fingerprint of messages without a schema."""


class Plan(NamedTuple):
    """How one table has its rows, and what does not fit it.

    Attributes:
        shape: How it has its rows; None where nothing has told its columns or its key yet.
        has_changed: Whether the table is there, and has other columns.
        refusals: Why changes do not fit it.
    """

    shape: Shape | None
    has_changed: bool
    refusals: list[Refusal]


def plan(
    spark: SparkSession, target: Target, ways: list[From], sources: Sources, applying: Applying
) -> Plan:
    """Return how a table has its rows after a batch.

    Args:
        spark: The session.
        target: The table.
        ways: Where its changes come from.
        sources: Where all changes of the batch come from.
        applying: How changes are applied.

    Raises:
        OutputError: A table was not made by changewire, or columns of a type that the user gave do
            not fit it.
    """
    types, tables = applying.types, applying.tables
    if not types.are_typed:
        return Plan(JsonShape(), has_changed=False, refusals=[])
    there = schema_of(spark, applying.sink, Output("table", target.name))
    if there is not None:
        check_columns(there, StructType([StructField(COLUMN, METADATA)]), target.name)
    current = None if there is None else _without_metadata(there)
    keys = _kept_keys(spark, target, applying) if there is not None else None
    keys = keys or _first_keys(ways, sources)
    refusals = [] if keys is None else [*_other_keys(ways, sources, keys)]
    if isinstance(types.rows, StructType):
        given = tables.kept(types.rows)
        found = evolved(current, [(_NONE, given)], types.evolution, tables.widens)
        if found.refused:
            raise OutputError(f"{target.name}: {found.refused[_NONE]}")
    else:
        used = [schema for schema in sources.schemas if schema.way in ways]
        declared, unread = _declared(used, types.reading)
        kept = [(name, tables.kept(columns)) for name, columns in declared.items()]
        found = evolved(current, kept, types.evolution, tables.widens)
        refusals += _mismatches(used, {**unread, **found.refused})
    shape = TypedShape(found.columns, keys) if keys and found.columns.fields else None
    has_changed = current is not None and current.simpleString() != found.columns.simpleString()
    return Plan(shape, has_changed, refusals)


def _without_metadata(table: StructType) -> StructType:
    return StructType([field for field in nullable(table).fields if field.name != COLUMN])


def _kept_keys(spark: SparkSession, target: Target, applying: Applying) -> tuple[str, ...] | None:
    """Return the columns of the key that a table has."""
    return keys_of(spark, applying.tables.identifier(beside(target.name, SUFFIX)))


def _first_keys(ways: list[From], sources: Sources) -> tuple[str, ...] | None:
    """Return the columns of the key that a new table gets; None where only truncates come."""
    return min((names for way in ways for names in sources.keys.get(way, ())), default=None)


def _other_keys(ways: list[From], sources: Sources, keys: tuple[str, ...]) -> Iterator[Refusal]:
    """Yield why changes are refused that name rows by other columns."""
    names = F.json_object_keys("key")
    expected = ", ".join(keys)
    for way in ways:
        if sources.keys.get(way, set()) - {keys}:
            is_other = ~F.array_sort(names).eqNullSafe(F.array(*map(F.lit, keys)))
            where = is_from([way]) & F.col("key").isNotNull() & is_other
            yield Refusal(
                where, "key-mismatch", "/key", f"the table's key has the columns {expected}"
            )


def _declared(
    schemas: list[SchemaOf], reading: Reading
) -> tuple[dict[str, StructType], dict[str, str]]:
    """Return the columns that schemas declare, and why some declare none, by fingerprint."""
    declared: dict[str, StructType] = {}
    unread: dict[str, str] = {}
    for schema in schemas:
        if schema.fingerprint is None:
            unread[_NONE] = "the message has no schema"
            continue
        found = embedded.dialect(reading.format).of(codec(reading.format).decode(schema.message))
        try:
            declared[schema.fingerprint] = nullable(
                row_type(
                    b"" if found is None else found.text,
                    format=reading.format,
                    keys=reading.keys,
                    families=reading.families,
                )
            )
        except ValueError as error:
            unread[schema.fingerprint] = str(error)
    return declared, unread


def _mismatches(schemas: list[SchemaOf], reasons: dict[str, str]) -> Iterator[Refusal]:
    """Yield why rows are refused whose schemas do not fit."""
    for schema in schemas:
        reason = reasons.get(schema.fingerprint or _NONE)
        if reason is not None and schema.way[1] == WRITE:
            has_it = F.col("schema_fingerprint").eqNullSafe(F.lit(schema.fingerprint))
            where = is_from([schema.way]) & has_it & F.col("after").isNotNull()
            yield Refusal(where, "schema-mismatch", "/after", reason)
