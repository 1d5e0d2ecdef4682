"""Which columns the tables of a batch have, and which of its changes do not fit them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.codec import codec
from changewire.engines.errors import OutputError
from changewire.engines.kept import SUFFIX
from changewire.engines.spark.apply.evolve import evolved, key_fault
from changewire.engines.spark.apply.history.columns import fault as history_fault
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.properties import keys_of
from changewire.engines.spark.apply.refused import OtherKeys, OtherSchemas, RefusedRows
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.sources import BatchSources, SchemaOf
from changewire.engines.spark.apply.tables import check_columns
from changewire.engines.spark.apply.typed_shape import Shape, TypedShape
from changewire.engines.spark.raised import RAISED
from changewire.engines.spark.row_type import row_type
from changewire.engines.spark.stream.compatible import schema_of
from changewire.engines.spark.stream.output import Output
from changewire.engines.spark.types import nullable
from changewire.tables.metadata import COLUMN
from changewire.tables.names import Target, beside
from changewire.tables.routing import (
    WRITE,
    Refusal,
    RouteKey,
    Routes,
    apply_failed,
    goes_to_all,
)
from changewire_messages.tables.spark import ROW_METADATA as METADATA

_NONE: Final = ""
"""Stands for the fingerprint of messages without a schema."""


class TablePlan(NamedTuple):
    """How one table has its rows, and what does not fit it.

    Attributes:
        shape: How it has its rows; None while its columns or its key are not known.
        has_changed: Whether the table is there, and has other columns.
        refusals: Which changes do not fit it.
        is_usable: Whether any change can be applied to it.
    """

    shape: Shape | None
    has_changed: bool
    refusals: list[RefusedRows]
    is_usable: bool = True


def plans(
    spark: SparkSession, found: Routes, sources: BatchSources, options: ApplyOptions
) -> tuple[dict[Target, TablePlan], list[RefusedRows]]:
    """Return how the tables of a batch have their rows, and which changes do not fit them.

    Tables that cannot be planned are left out.

    Args:
        spark: The session.
        found: Where changes go to; tables that are left out are taken from it.
        sources: Where all changes of the batch come from.
        options: How changes are applied.

    Raises:
        OutputError: A table was not made by changewire, or columns of a type that the user gave do
            not fit it.
    """
    made: dict[Target, TablePlan] = {}
    refused: list[RefusedRows] = []
    for target, routes in [*found.targets.items()]:
        try:
            one = plan(spark, target, routes, sources, options)
        except OutputError:
            raise
        except RAISED:
            raise
        except Exception as error:  # noqa: BLE001 - one hostile schema must not end the stream
            why = apply_failed(error, "/source", "planning the table")
            one = _unusable(routes, why)
        refused += one.refusals
        if one.is_usable:
            made[target] = one
        else:
            del found.targets[target]
            found.added[:] = [added for added in found.added if added[0] != target]
    return made, refused


def plan(
    spark: SparkSession,
    target: Target,
    routes: list[RouteKey],
    sources: BatchSources,
    options: ApplyOptions,
) -> TablePlan:
    """Return how a table has its rows after a batch; see `plans`."""
    tables = options.tables
    if not options.are_typed:
        return TablePlan(JsonShape(), has_changed=False, refusals=[])
    there = schema_of(spark, options.sink, Output("table", target.name))
    if there is not None:
        check_columns(there, StructType([StructField(COLUMN, METADATA)]), target.name)
    current = None if there is None else _without_metadata(there)
    keys = None if there is None else keys_of(spark, tables.identifier(beside(target.name, SUFFIX)))
    keys = keys or _first_keys(routes, sources)
    refusals = [] if keys is None else [*_other_keys(routes, sources, keys)]
    if isinstance(options.rows, StructType):
        given = tables.kept(options.rows)
        found = evolved(current, [(_NONE, given)], options.evolution, tables.widens)
        fault = found.refused.get(_NONE) or _fault(given, options)
        if fault is not None:
            raise OutputError(f"{target.name}: {fault}")
    else:
        used = [schema for schema in sources.schemas if schema.route in routes]
        declared, unread = _declared(used, options.decode_options)
        faults = {name: _fault(columns, options) for name, columns in declared.items()}
        unread |= {name: fault for name, fault in faults.items() if fault is not None}
        kept = [(name, tables.kept(one)) for name, one in declared.items() if name not in unread]
        found = evolved(current, kept, options.evolution, tables.widens)
        refusals += _mismatches(used, {**unread, **found.refused})
    named = StructType([StructField(name, StringType()) for name in keys or ()])
    fault = key_fault(keys or (), found.columns) or _fault(named, options)
    if fault is not None:
        return _unusable(routes, Refusal("key-mismatch", "/key", fault))
    shape = TypedShape(found.columns, keys) if keys and found.columns.fields else None
    has_changed = current is not None and current.simpleString() != found.columns.simpleString()
    return TablePlan(shape, has_changed, refusals)


def _fault(columns: StructType, options: ApplyOptions) -> str | None:
    """Return why a table, or that of its versions, cannot have some columns; None if both can."""
    found = options.tables.fault(columns)
    if found is None and options.history is not None:
        return history_fault(columns.names, options.history_names)
    return found


def _unusable(routes: list[RouteKey], why: Refusal) -> TablePlan:
    """Return the plan of a table that takes no change; deletes that have other tables are left."""
    alone = [one for one in routes if not goes_to_all(one[1], one[0])]
    refusals = [RefusedRows(alone, why)]
    return TablePlan(None, has_changed=False, refusals=refusals, is_usable=False)


def _without_metadata(table: StructType) -> StructType:
    return StructType([field for field in nullable(table).fields if field.name != COLUMN])


def _first_keys(routes: list[RouteKey], sources: BatchSources) -> tuple[str, ...] | None:
    """Return the columns of the key that a new table gets: those that most changes have.

    None if only truncates come.
    """
    found: Counter[tuple[str, ...]] = Counter()
    for route in routes:
        found.update(sources.keys.get(route, {}))
    return max(sorted(found), key=found.__getitem__, default=None)


def _other_keys(
    routes: list[RouteKey], sources: BatchSources, keys: tuple[str, ...]
) -> Iterator[RefusedRows]:
    """Yield why changes are refused that name rows by other columns."""
    text = f"the table's key has the columns {', '.join(keys)}"
    for route in routes:
        if {*sources.keys.get(route, ())} - {keys}:
            yield OtherKeys([route], Refusal("key-mismatch", "/key", text), keys)


def _declared(
    schemas: list[SchemaOf], decode_options: DecodeOptions
) -> tuple[dict[str, StructType], dict[str, str]]:
    """Return the columns that schemas declare, and why some declare none, by fingerprint."""
    declared: dict[str, StructType] = {}
    unread: dict[str, str] = {}
    for schema in schemas:
        if schema.fingerprint is None:
            unread[_NONE] = "the message has no schema"
            continue
        try:
            declared[schema.fingerprint] = _columns(schema.message, decode_options)
        except ValueError as error:
            unread[schema.fingerprint] = str(error)
        except Exception as error:  # noqa: BLE001 - one hostile schema must not end the stream
            unread[schema.fingerprint] = f"reading the schema raised {type(error).__name__}"
    return declared, unread


def _columns(message: bytes, decode_options: DecodeOptions) -> StructType:
    """Return the columns that the schema in a message declares.

    Raises:
        ValueError: There is no schema, or it declares no columns.
    """
    found = embedded.dialect(decode_options.format).of(codec(decode_options.format).decode(message))
    columns = row_type(
        b"" if found is None else found.text,
        format=decode_options.format,
        keys=decode_options.keys,
        families=decode_options.families,
    )
    return cast("StructType", nullable(columns))


def _mismatches(schemas: list[SchemaOf], reasons: dict[str, str]) -> Iterator[RefusedRows]:
    """Yield why rows are refused whose schemas do not fit."""
    for schema in schemas:
        reason = reasons.get(schema.fingerprint or _NONE)
        if reason is not None and schema.route[1] == WRITE:
            why = Refusal("schema-mismatch", "/after", reason)
            yield OtherSchemas([schema.route], why, schema.fingerprint)
