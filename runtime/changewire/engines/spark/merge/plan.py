"""Which columns a table has, and which changes of a batch it cannot take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from typing import Any, Final, NamedTuple, cast

from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import DataType, StructField, StructType

from changewire.engines.applied import has_text_rows, made_with, owner_in, source_in
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import KEY, ROW
from changewire.engines.partitions import Layout
from changewire.engines.settings import Deletes, Settings
from changewire.engines.spark.merge.constraints import Constraints
from changewire.engines.spark.merge.formats import TableFormat
from changewire.engines.spark.merge.from_log import is_truncate
from changewire.engines.spark.merge.options import ApplyOptions
from changewire.engines.spark.merge.shapes import JsonShape, Shape, TypedShape
from changewire.engines.spark.parts import names_in
from changewire.engines.spark.types import nullable
from changewire.engines.typed.evolve import joined_type
from changewire.engines.typed.own import RowOptions, rows_in, with_json
from changewire.engines.typed.plan import RefusedRows, TablePlan, table_plan
from changewire.engines.typed.sources import BatchSources
from changewire.engines.typed.there import TableThere, reserved_fault
from changewire.engines.typed.types import StructJson, differing, field_json, sql_name, struct_json
from changewire.tables.mutations import WRITES
from changewire.tables.names import Target
from changewire.tables.routing import NAMES, WRITE, RouteKey
from changewire.tables.row_state import COLUMN
from changewire_messages.change import Source
from changewire_messages.tables.spark import ROW_STATE

NEEDED: Final = StructType([StructField(COLUMN, ROW_STATE)])
"""Columns that every table has."""

_ADVICE: Final = {
    True: "; an earlier version made it, and changewire.spark.rebuild mends it",
    False: "; it was not made by changewire, which takes it over by changewire.spark.adopt_table",
}
"""What to do about a table whose column of states is another one, or that has none."""


@dataclass(frozen=True)
class There:
    """A table that exists.

    Attributes:
        columns: Its columns.
        keys: Columns of its key; None if they are not known.
        properties: Its properties.
        named: Columns that messages or settings have named; None for all.
        constraints: What it asks of its rows.
        layout: How its files are laid out; None if that was not looked at.
    """

    columns: StructType
    keys: tuple[str, ...] | None
    properties: Mapping[str, str]
    named: frozenset[str] | None = None
    constraints: Constraints = field(default_factory=Constraints)
    layout: Layout | None = None

    @property
    def owner(self) -> str | None:
        """Id of the query that it belongs to, if any."""
        return owner_in(self.properties)

    @property
    def has_text(self) -> bool:
        """Whether its rows are JSON text."""
        return has_text_rows(self.columns.names, self.properties)

    @property
    def deletes(self) -> Deletes | None:
        """What becomes of deleted rows; None if it may be either."""
        return made_with(self.properties, is_owned=self.owner is not None)

    @property
    def source(self) -> Source | None:
        """The source that it remembers, if any."""
        return source_in(self.properties)

    @property
    def others(self) -> frozenset[str]:
        """Columns that changes never write."""
        asked = self.constraints
        kept = {*self.columns.names} if self.named is None else {*self.named, *(self.keys or ())}
        unnamed = {*self.columns.names} - kept - {COLUMN}
        return frozenset(unnamed | asked.generated.keys() | asked.closed.keys())

    @property
    def unwritten(self) -> frozenset[str]:
        """Those of them that are not computed of the columns of the row."""
        return self.others - self.constraints.generated.keys()


class SparkRules(NamedTuple):
    """What tables of a format can have; see `changewire.engines.typed.there.TableRules`."""

    tables: TableFormat
    there: There | None

    def kept(self, columns: StructJson) -> StructJson:
        """Return columns with the types that a table has for theirs."""
        found: dict[str, Any] = self.tables.kept(_struct(columns)).jsonValue()
        return found

    def fault(self, columns: StructJson) -> str | None:
        """Return why a table cannot have some columns; None if it can."""
        there = () if self.there is None else self.there.columns.names
        fault = reserved_fault(self.tables.name, columns, there)
        return fault or self.tables.fault(_struct(columns)) or _closed(self.there, columns)

    def widens(self, there: Any, wider: Any) -> bool:
        """Whether a column's type can become another one, which has all of its values."""
        return self.tables.widens(_type(there), _type(wider))

    def compares(self, kind: Any) -> bool:
        """Whether values of a type can be compared: Spark compares all but maps."""
        del kind
        return True

    def part_fault(self, name: str, kind: Any, *, is_key: bool) -> str | None:
        """Return why a table cannot be partitioned by a column; None if it can."""
        return self.tables.part_fault(name, kind, is_key=is_key)

    def shape(self, columns: StructJson | None, keys: tuple[str, ...], how: RowOptions) -> Shape:
        """Return how a table has its rows."""
        return JsonShape() if columns is None else TypedShape(_struct(columns), keys, how)


def plan(  # noqa: PLR0917 - a table, its changes, and what is asked of it
    target: Target,
    routes: list[RouteKey],
    sources: BatchSources,
    options: ApplyOptions,
    settings: Settings,
    there: There | None,
) -> TablePlan[Shape]:
    """Return how a table has its rows after a batch."""
    current, keys, given, layout, deletes = None, None, frozenset[str](), None, None
    if there is not None:
        has_text = {KEY, ROW} <= {*there.columns.names} and options.rows_of(target) == "json"
        check_columns(there.columns, JsonShape().columns if has_text else NEEDED, target.name)
        current = with_json(without_state(there.columns), there.properties)
        keys, layout, deletes = there.keys, there.layout, there.deletes
        given = rows_in(there.properties).given
    is_text = there is not None and there.has_text
    table = TableThere(
        *(target, current, keys), is_text=is_text, given=given, layout=layout, deletes=deletes
    )
    return table_plan(table, routes, sources, options, settings, SparkRules(options.format, there))


def shape_of(there: There) -> Shape:
    """Return how a table has the rows of changes that it has taken."""
    if there.has_text:
        return JsonShape()
    found: dict[str, Any] = nullable(there.columns).jsonValue()
    row = with_json(found, there.properties)
    columns = [one for one in row["fields"] if one["name"] != COLUMN]
    kind = StructType.fromJson(struct_json(columns))
    how = rows_in(there.properties)._replace(were_applied=True)
    return TypedShape(kind, there.keys or (), how)


def _closed(there: There | None, columns: StructJson) -> str | None:
    """Return why a table cannot take some columns because of its constraints; None if it can."""
    if there is None:
        return None
    found = {one["name"]: one["type"] for one in there.columns.jsonValue()["fields"]}
    for name, kind in ((one["name"], one["type"]) for one in columns["fields"]):
        if name in there.constraints.closed:
            return there.constraints.closed[name]
        has = found.get(name, kind)
        wider = joined_type(has, kind)
        is_wider = wider is not None and sql_name(wider) != sql_name(has)
        if is_wider and there.constraints.reads(name):
            text = f"column {name!r} is {sql_name(has)}, and a constraint of the table reads it"
            return f"{text}; the message has {sql_name(kind)}"
    return None


def check_columns(
    found: StructType, needed: StructType, name: str, advice: str | None = None
) -> None:
    """Check that a table has the columns that it needs; `advice` says what to do if not."""
    for column, kind, has in differing(found.jsonValue(), needed.jsonValue()):
        if column == COLUMN:
            advice = advice or _ADVICE[column in found.names]
        raise OutputError(
            f"{name}: a column {column} of type {kind} is needed, and the table {has}{advice or ''}"
        )


def is_from(keys: list[RouteKey]) -> Any:
    """Return the condition that a row comes from one of some sources."""
    found = F.lit(False)  # noqa: FBT003 - a column of this value
    for source, op in keys:
        is_op = F.col("op").isin(*WRITES) if op == WRITE else F.col("op") == op
        found = found | (is_op & _is_source(source))
    return found


def is_of(keys: list[RouteKey]) -> Any:
    """Return the condition that a row has one of some sources, whatever it does."""
    return reduce(or_, map(_is_source, {source for source, _ in keys}))


def _is_source(source: Source) -> Any:
    return reduce(and_, (F.col("source")[n].eqNullSafe(getattr(source, n)) for n in NAMES))


def is_refused(refused: RefusedRows) -> Any:
    """Return the condition that decoded rows meet which are refused."""
    is_one = is_from(refused.routes)
    if refused.keys is not None:
        names = F.array_sort(names_in("key"))
        is_other = ~names.eqNullSafe(F.array(*map(F.lit, sorted(refused.keys))))
        return is_one & F.col("key").isNotNull() & is_other
    return is_one & (F.col("key").isNotNull() | is_truncate())


def without_state(table: StructType) -> StructJson:
    """Return the columns of a table, which may be NULL, but that of states."""
    found: list[Any] = nullable(table).jsonValue()["fields"]
    return struct_json([field for field in found if field["name"] != COLUMN])


def _struct(columns: StructJson) -> StructType:
    return StructType.fromJson(cast("dict[str, Any]", columns))


def _type(kind: Any) -> DataType:
    return _struct(struct_json([field_json("column", kind)]))["column"].dataType
