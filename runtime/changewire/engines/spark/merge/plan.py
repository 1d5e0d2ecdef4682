"""Which columns a table has, and which changes of a batch it cannot take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, cast

from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import DataType, StructField, StructType

from changewire.engines.errors import OutputError
from changewire.engines.spark.merge.formats import TableFormat
from changewire.engines.spark.merge.from_log import is_truncate
from changewire.engines.spark.merge.options import ApplyOptions
from changewire.engines.spark.merge.shapes import JsonShape, Shape, TypedShape
from changewire.engines.spark.types import differing, nullable
from changewire.engines.typed import plan as typed
from changewire.engines.typed.plan import BatchSources
from changewire.engines.typed.refused import LostTruncates, OtherKeys, OtherSchemas, RefusedRows
from changewire.engines.typed.types import StructJson, field_json, struct_json
from changewire.tables.mutations import WRITES
from changewire.tables.names import Target
from changewire.tables.routing import NAMES, WRITE, RouteKey
from changewire.tables.row_state import COLUMN
from changewire_messages.tables.spark import ROW_STATE


@dataclass(frozen=True)
class There:
    """A table that exists.

    Attributes:
        columns: Its columns.
        keys: Columns of its key; None if they are not known.
        is_owned: Whether it belongs to a query.
    """

    columns: StructType
    keys: tuple[str, ...] | None
    is_owned: bool = True


class TablePlan(NamedTuple):
    """How one table has its rows, and what does not fit it.

    Attributes:
        shape: How it has its rows; None while its columns or its key are not known.
        has_changed: Whether the table exists, and has other columns.
        refusals: Which changes do not fit it.
        is_usable: Whether any change can be applied to it.
    """

    shape: Shape | None
    has_changed: bool
    refusals: list[RefusedRows]
    is_usable: bool = True


class _Rules(NamedTuple):
    """What tables of a format can have; see `changewire.engines.typed.plan.TableRules`."""

    tables: TableFormat

    def kept(self, columns: StructJson) -> StructJson:
        found: dict[str, Any] = self.tables.kept(_struct(columns)).jsonValue()
        return found

    def fault(self, columns: StructJson) -> str | None:
        return self.tables.fault(_struct(columns))

    def widens(self, there: Any, wider: Any) -> bool:
        return self.tables.widens(_type(there), _type(wider))

    def compares(self, kind: Any) -> bool:
        del kind  # Spark compares all but maps
        return True


def plan(
    target: Target,
    routes: list[RouteKey],
    sources: BatchSources,
    options: ApplyOptions,
    there: There | None,
) -> TablePlan:
    """Return how a table has its rows after a batch.

    Args:
        target: The table.
        routes: Where its changes come from.
        sources: Where all changes of the batch come from.
        options: How changes are applied.
        there: The table as it is; None if it does not exist.

    Raises:
        OutputError: The table was not made by changewire, or columns that the user gave do not fit.
    """
    rows = options.rows_of(target)
    shape: Shape = JsonShape()
    if there is not None:
        needed = StructType([StructField(COLUMN, ROW_STATE)])
        check_columns(there.columns, shape.columns if rows == "json" else needed, target.name)
    if rows == "json":
        return TablePlan(shape, has_changed=False, refusals=[])
    given = rows.jsonValue() if isinstance(rows, StructType) else None
    current, keys = (None, None) if there is None else (_without_state(there.columns), there.keys)
    table = typed.TableThere(target.name, current, keys)
    how = typed.TypedTables(
        options.decode_options, _Rules(options.format), given, options.tables.schema_evolution
    )
    found = typed.typed_plan(table, routes, sources, how)
    if found.columns is None:
        return TablePlan(None, False, found.refusals, found.is_usable)  # noqa: FBT003
    shape = TypedShape(_struct(found.columns), found.keys, exact=options.tables.numbers == "refuse")
    return TablePlan(shape, found.has_changed, found.refusals)


def check_columns(found: StructType, needed: StructType, name: str) -> None:
    """Check that a table has the columns that it needs.

    Raises:
        OutputError: It lacks one, or has it of another type.
    """
    for column, kind, has in differing(found, needed):
        advice = ""
        if column == COLUMN:
            advice = (
                "; it was not made by changewire, which takes it over by "
                "changewire.spark.adopt_table"
            )
        raise OutputError(
            f"{name}: a column {column} of type {kind} is needed, and the table {has}{advice}"
        )


def is_from(keys: list[RouteKey]) -> Any:
    """Return the condition that a row comes from one of some sources."""
    conditions = F.lit(False)  # noqa: FBT003 - a column of this value
    for source, op in keys:
        condition = F.col("op").isin(*WRITES) if op == WRITE else F.col("op") == op
        for name in NAMES:
            condition = condition & F.col("source")[name].eqNullSafe(getattr(source, name))
        conditions = conditions | condition
    return conditions


@singledispatch
def is_refused(refused: RefusedRows) -> Any:
    """Return the condition that decoded rows meet which are refused."""
    return is_from(refused.routes) & (F.col("key").isNotNull() | is_truncate())


@is_refused.register
def _(refused: OtherKeys) -> Any:
    names = F.array_sort(F.json_object_keys("key"))
    is_other = ~names.eqNullSafe(F.array(*map(F.lit, sorted(refused.keys))))
    return is_from(refused.routes) & F.col("key").isNotNull() & is_other


@is_refused.register
def _(refused: OtherSchemas) -> Any:
    has_it = F.col("schema_fingerprint").eqNullSafe(F.lit(refused.fingerprint))
    return is_from(refused.routes) & has_it & F.col("after").isNotNull()


@is_refused.register
def _(refused: LostTruncates) -> Any:
    del refused
    return is_truncate() & F.col("sequence").isNull()


def _without_state(table: StructType) -> StructJson:
    found: list[Any] = nullable(table).jsonValue()["fields"]
    return struct_json([field for field in found if field["name"] != COLUMN])


def _struct(columns: StructJson) -> StructType:
    return StructType.fromJson(cast("dict[str, Any]", columns))


def _type(kind: Any) -> DataType:
    return _struct(struct_json([field_json("column", kind)]))["column"].dataType
