"""Which columns the tables of a batch have, and which of its changes do not fit them."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from changewire.engines.changelog.versions import columns_fault
from changewire.engines.errors import OutputError
from changewire.engines.kept import SUFFIX
from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.properties import keys_of
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.tables import check_columns
from changewire.engines.spark.apply.typed_shape import Shape, TypedShape
from changewire.engines.spark.raised import RAISED
from changewire.engines.spark.stream.compatible import schema_of
from changewire.engines.spark.stream.output import Output
from changewire.engines.spark.types import nullable
from changewire.engines.typed import plan as typed
from changewire.engines.typed.json_types import StructJson, field_json, struct_json
from changewire.engines.typed.refused import RefusedRows
from changewire.engines.typed.sources import BatchSources
from changewire.tables.metadata import COLUMN
from changewire.tables.names import Target, beside
from changewire.tables.routing import RouteKey, Routes
from changewire.tables.version_rows import VersionNames
from changewire_messages.tables.spark import ROW_METADATA as METADATA


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


class SparkRules(NamedTuple):
    """What tables of a format can have; see `changewire.engines.typed.plan.TableRules`.

    Attributes:
        tables: The format.
        history_names: How the columns of tables of versions are named; None if there are none.
    """

    tables: TableFormat
    history_names: VersionNames | None = None

    def kept(self, columns: StructJson) -> StructJson:
        """Return columns with the types that a table has for theirs."""
        found: dict[str, Any] = self.tables.kept(_struct(columns)).jsonValue()
        return found

    def fault(self, columns: StructJson) -> str | None:
        """Return why a table, or that of its versions, cannot have some columns, or None."""
        found = self.tables.fault(_struct(columns))
        if found is None and self.history_names is not None:
            return columns_fault((one["name"] for one in columns["fields"]), self.history_names)
        return found

    def widens(self, there: Any, wider: Any) -> bool:
        """Whether a column's type can become another one, which holds all of its values."""
        return self.tables.widens(_type(there), _type(wider))

    def compares(self, kind: Any) -> bool:
        """Whether values of a type can be compared: Spark compares all but maps."""
        del kind
        return True


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

    def one(target: Target, routes: list[RouteKey]) -> TablePlan:
        return plan(spark, target, routes, sources, options)

    return typed.plans(found, one, (OutputError, *RAISED))


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
    given = options.rows.jsonValue() if isinstance(options.rows, StructType) else None
    table = typed.TableThere(target.name, current, keys)
    rules = SparkRules(tables, None if options.history is None else options.history_names)
    how = typed.TypedTables(options.decode_options, rules, given, options.evolution)
    found = typed.typed_plan(table, routes, sources, how)
    shape = None if found.columns is None else TypedShape(_struct(found.columns), found.keys)
    return TablePlan(shape, found.has_changed, found.refusals, found.is_usable)


def _without_metadata(table: StructType) -> StructJson:
    found: list[Any] = nullable(table).jsonValue()["fields"]
    return struct_json([field for field in found if field["name"] != COLUMN])


def _struct(columns: StructJson) -> StructType:
    return StructType.fromJson(cast("dict[str, Any]", columns))


def _type(kind: Any) -> DataType:
    return _struct(struct_json([field_json("column", kind)]))["column"].dataType
