"""Which typed columns the tables of a batch have, and which of its changes do not fit them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from changewire.engines.declared import columns_of_text
from changewire.engines.errors import OutputError
from changewire.engines.typed.evolve import evolved, key_fault
from changewire.engines.typed.options import AppliedOptions
from changewire.engines.typed.types import (
    StructJson,
    columns_as_json,
    field_json,
    sql_name,
    struct_json,
)
from changewire.tables.names import Target
from changewire.tables.routing import WRITE, Refusal, RouteKey, Routes, apply_failed, goes_to_all

_GIVEN = ""
"""Instead of the text of declared columns: those that are given."""


class SchemaOf(Struct, frozen=True):
    """What the schemas in messages of a route declare; None without one that can be read.

    Attributes:
        route: Where the messages come from.
        columns: Text of the columns, see `changewire.engines.declared`.
        has_schema: Whether the messages have a schema.
    """

    route: RouteKey
    columns: str | None
    has_schema: bool


@dataclass(frozen=True)
class BatchSources:
    """Where the changes of a batch come from, with what typed tables need to be planned.

    Attributes:
        route_keys: Where they come from, in the order in which they find their tables.
        changes: How many changes there are.
        key_missing: How many of them have no key; they go nowhere.
        keys: Columns of the keys, by where changes come from; and how many changes have them.
        schemas: What those in messages declare, in the order of their first messages.
    """

    route_keys: list[RouteKey]
    changes: int
    key_missing: int
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = field(default_factory=dict)
    schemas: list[SchemaOf] = field(default_factory=list)


@dataclass(frozen=True)
class RefusedRows:
    """Changes that name a row, and truncates, from some sources; and why they are refused.

    Attributes:
        routes: Where they come from.
        why: Why they are refused.
        keys: If given, only changes that name their rows by other columns.
        columns: If given, only changes with a row whose message declares these columns; None: that
            declares none.
        has_schema: For these, whether their message has a schema.
    """

    routes: list[RouteKey]
    why: Refusal
    keys: tuple[str, ...] | None = None
    columns: str | UnsetType | None = UNSET
    has_schema: bool = True

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether the decoded row of a change from these sources is one of them."""
        if self.keys is not None:
            return row["key"] is not None and _names(row["key"]) != sorted(self.keys)
        if self.columns is not UNSET:
            is_same = row["columns"] == self.columns and row["after"] is not None
            return is_same and (row["schema_fingerprint"] is not None) == self.has_schema
        return True


def _names(key: str) -> list[str]:
    return sorted(msgspec.json.decode(key, type=dict[str, Raw]))


ShapeT = TypeVar("ShapeT")
ShapeT_co = TypeVar("ShapeT_co", covariant=True)


class TableRules(Protocol[ShapeT_co]):
    """What tables of a format can have; types are in the JSON form of a StructType."""

    def kept(self, columns: StructJson) -> StructJson:
        """Return columns with the types that a table has for theirs."""
        ...

    def fault(self, columns: StructJson) -> str | None:
        """Return why a table cannot have some columns; None if it can."""
        ...

    def widens(self, there: Any, wider: Any) -> bool:
        """Whether a column's type can become another one, which has all of its values."""
        ...

    def compares(self, kind: Any) -> bool:
        """Whether values of a type, which has no map, can be compared, so that they name rows."""
        ...

    def shape(self, columns: StructJson | None, keys: tuple[str, ...], *, exact: bool) -> ShapeT_co:
        """Return how a table has its rows, JSON text without columns; or raise a ValueError."""
        ...


class TableThere(NamedTuple):
    """A table before a batch, with None for missing or unknown columns and keys.

    `named` are the columns that may be written although the batch does not name them, None for all.
    """

    target: Target
    columns: StructJson | None
    keys: tuple[str, ...] | None
    named: frozenset[str] | None = None


@dataclass(frozen=True)
class TablePlan(Generic[ShapeT]):
    """How one table has its rows, and what does not fit it.

    Attributes:
        shape: How it has its rows; None while its columns or its key are not known.
        refusals: Which changes do not fit it.
        has_changed: Whether the table exists, and has other columns.
        is_usable: Whether any change can be applied to it.
        named: Columns that the messages of the batch, or settings, name.
    """

    shape: ShapeT | None
    refusals: list[RefusedRows] = field(default_factory=list)
    has_changed: bool = False
    is_usable: bool = True
    named: frozenset[str] = frozenset()


def plans(
    found: Routes,
    plan: Callable[[Target, list[RouteKey]], TablePlan[ShapeT]],
    fatal: tuple[type[Exception], ...],
) -> tuple[dict[Target, TablePlan[ShapeT]], list[RefusedRows]]:
    """Return the plans of the tables of a batch, and which changes do not fit them.

    Tables that cannot be planned are left out, and taken from the routes. What planning raises
    refuses the changes of a table, unless it is fatal and ends the batch.
    """
    made: dict[Target, TablePlan[ShapeT]] = {}
    refused: list[RefusedRows] = []
    for target, routes in [*found.targets.items()]:
        try:
            one = plan(target, routes)
        except fatal:
            raise
        except Exception as error:  # noqa: BLE001 - one hostile schema must not end the stream
            why = apply_failed(error, "/source", "planning the table")
            refused.append(_refused_alone(routes, why))
        else:
            refused += one.refusals
            if one.is_usable:
                made[target] = one
                continue
        del found.targets[target]
        found.added[:] = [added for added in found.added if added[0] != target]
    return made, refused


def table_plan(
    table: TableThere,
    routes: list[RouteKey],
    sources: BatchSources,
    options: AppliedOptions,
    rules: TableRules[ShapeT],
) -> TablePlan[ShapeT]:
    """Return how a table, whose changes come from routes, has its rows after a batch."""
    rows, current = options.rows_of(table.target), table.columns
    if isinstance(rows, str) and rows == "json":
        return TablePlan(rules.shape(None, (), exact=False))
    keys = table.keys or _first_keys(routes, sources)
    refusals = [] if keys is None else [*_other_keys(routes, sources, keys)]
    used = [schema for schema in sources.schemas if schema.route in routes]
    reasons: dict[str, str] = {}
    if isinstance(rows, str):
        texts = dict.fromkeys(one.columns for one in used if one.columns is not None)
        by_schema = {text: columns_of_text(text) for text in texts}
    else:
        by_schema = {_GIVEN: columns_as_json(rows)}
    faults = {one: rules.fault(columns) for one, columns in by_schema.items()}
    reasons |= {one: fault for one, fault in faults.items() if fault is not None}
    kept = [(one, rules.kept(of)) for one, of in by_schema.items() if one not in reasons]
    found = evolved(current, kept, options.tables.schema_evolution, rules.widens)
    reasons |= found.refused
    if not isinstance(rows, str) and reasons:
        raise OutputError(f"{table.target.name}: {reasons[_GIVEN]}")
    refusals += _mismatches(used, reasons) if isinstance(rows, str) else ()
    of_key = struct_json([field_json(one, "string") for one in keys or ()])
    fault = key_fault(keys or (), found.columns, rules.compares) or rules.fault(of_key)
    if fault is not None:
        return unusable(routes, Refusal("key-mismatch", "/key", fault))
    if not keys or not found.columns["fields"]:
        return TablePlan(None, refusals)
    has_changed = current is not None and sql_name(current) != sql_name(found.columns)
    fields = (field for one, of in kept if one not in found.refused for field in of["fields"])
    named = frozenset([*keys, *(field["name"] for field in fields)])
    columns = _written(found.columns, table.named, named)
    try:
        shape = rules.shape(columns, keys, exact=options.tables.numbers == "refuse")
    except ValueError as error:
        raise OutputError(f"{table.target.name}: {error}") from None
    return TablePlan(shape, refusals, has_changed, named=named)


def unusable(routes: list[RouteKey], why: Refusal) -> TablePlan[Any]:
    """Return that no change can be applied to a table, and why."""
    return TablePlan(None, [_refused_alone(routes, why)], is_usable=False)


def _written(
    columns: StructJson, before: frozenset[str] | None, named: frozenset[str]
) -> StructJson:
    """Return the columns of a table that are written: those named before, and those named now."""
    if before is None:
        return columns
    names = before | named
    return struct_json([field for field in columns["fields"] if field["name"] in names])


def _refused_alone(routes: list[RouteKey], why: Refusal) -> RefusedRows:
    """Return that no change of a table is applied; deletes that have other tables are left."""
    return RefusedRows([one for one in routes if not goes_to_all(one[1], one[0])], why)


def _first_keys(routes: list[RouteKey], sources: BatchSources) -> tuple[str, ...] | None:
    """Return the key that most changes have, for a new table; None if only truncates come."""
    found: Counter[tuple[str, ...]] = Counter()
    for route in routes:
        found.update(sources.keys.get(route, {}))
    return max(sorted(found), key=found.__getitem__, default=None)


def _other_keys(
    routes: list[RouteKey], sources: BatchSources, keys: tuple[str, ...]
) -> Iterator[RefusedRows]:
    """Yield why changes are refused that name rows by other columns."""
    folded = {one.lower() for one in keys}
    for route in routes:
        if others := {*sources.keys.get(route, ())} - {keys}:
            text = f"the table's key has the columns {', '.join(keys)}"
            if any({one.lower() for one in other} == folded for other in others):
                text += ", and a key with names of another case is another one"
            yield RefusedRows([route], Refusal("key-mismatch", "/key", text), keys)


def _mismatches(schemas: list[SchemaOf], reasons: Mapping[str, str]) -> Iterator[RefusedRows]:
    """Yield why rows are refused whose schemas do not fit; `reasons` are by declared columns."""
    for schema in schemas:
        lack = "the schema in the message declares no columns that can be read"
        lack = lack if schema.has_schema else "the message has no schema"
        reason = lack if schema.columns is None else reasons.get(schema.columns)
        if reason is not None and schema.route[1] == WRITE:
            why = Refusal("schema-mismatch", "/after", reason)
            yield RefusedRows(
                [schema.route], why, columns=schema.columns, has_schema=schema.has_schema
            )
