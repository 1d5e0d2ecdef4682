"""Which typed columns the tables of a batch have, and which of its changes do not fit them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic

import msgspec
from msgspec import Raw

from changewire.engines.declared import VOID
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import KEY, ROW
from changewire.engines.options import SchemaEvolution
from changewire.engines.partitions import transform_fault
from changewire.engines.settings import NONE, Settings
from changewire.engines.typed.auto import CarriedColumn, auto_columns
from changewire.engines.typed.evolve import evolved, key_fault
from changewire.engines.typed.options import AppliedOptions
from changewire.engines.typed.sources import (
    BatchSources,
    carried_columns,
    first_keys,
    key_columns,
)
from changewire.engines.typed.there import ShapeT, TableRules, TableThere
from changewire.engines.typed.types import (
    StructJson,
    columns_as_json,
    field_json,
    sql_name,
    struct_json,
)
from changewire.tables.names import Target
from changewire.tables.routing import Refusal, RouteKey, Routes, apply_failed, goes_to_all

_GIVEN = ""
"""Instead of the text of declared columns: those that are given."""

_REBUILT: Final = (
    "a table keeps what it was made with until `rebuild` with row_schema and these settings "
    "changes it"
)


@dataclass(frozen=True)
class RefusedRows:
    """Changes that name a row, and truncates, from some sources; and why they are refused.

    Attributes:
        routes: Where they come from.
        why: Why they are refused.
        keys: If given, only changes that name their rows by other columns.
    """

    routes: list[RouteKey]
    why: Refusal
    keys: tuple[str, ...] | None = None

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether the decoded row of a change from these sources is one of them."""
        if self.keys is None:
            return True
        return row["key"] is not None and _names(row["key"]) != sorted(self.keys)


def _names(key: str) -> list[str]:
    return sorted(msgspec.json.decode(key, type=dict[str, Raw]))


@dataclass(frozen=True)
class TablePlan(Generic[ShapeT]):
    """How one table has its rows, and what does not fit it.

    Attributes:
        shape: How it has its rows; None while its columns or its key are not known.
        refusals: Which changes do not fit it.
        has_changed: Whether the table exists, and has other columns.
        is_usable: Whether any change can be applied to it.
        named: Columns that the messages of the batch, or settings, name.
        settings: What is asked of it.
    """

    shape: ShapeT | None
    refusals: list[RefusedRows] = field(default_factory=list)
    has_changed: bool = False
    is_usable: bool = True
    named: frozenset[str] = frozenset()
    settings: Settings = NONE


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


def table_plan(  # noqa: PLR0917 - a table, its changes, and what is asked of it
    table: TableThere,
    routes: list[RouteKey],
    sources: BatchSources,
    options: AppliedOptions,
    settings: Settings,
    rules: TableRules[ShapeT],
) -> TablePlan[ShapeT]:
    """Return how a table, whose changes come from routes, has its rows after a batch."""
    rows, how = options.rows_of(table.target), options.row_options(table.target, settings)
    is_json = isinstance(rows, str) and rows == "json"
    _check_kind(table, is_json=is_json)
    if is_json:
        if settings.laid_out_by and settings.layout != table.layout:
            return unusable(routes, layout_refusal("its rows are JSON text"))
        _check_deletes(table, settings)
        return TablePlan(rules.shape(None, (), how), settings=settings)
    _check_layout(table, settings)
    _check_deletes(table, settings)
    keys = table.keys or first_keys(routes, sources)
    refusals = [] if keys is None else [*_other_keys(routes, sources, keys)]
    evolution = options.tables.schema_evolution
    if isinstance(rows, str):
        carried = carried_columns(routes, sources, keys or ())
        if not carried and keys:
            carried = key_columns(table, routes, sources, keys, settings)
        if carried:
            carried += _laid_out(table, settings)
        given = _types_asked(table, carried, settings, rules)
        columns = auto_columns(table.columns, carried, evolution, rules, given)
        how = how._replace(given=_checked_types(table.target, columns, given))
        named, closed = _open_and_closed({one.name for one in carried}, columns, rules)
    else:
        columns = _given(table, columns_as_json(rows), evolution, rules)
        named, closed = {*rows.names}, set[str]()
    of_key = struct_json([field_json(one, "string") for one in keys or ()])
    fault = key_fault(keys or (), columns, rules.compares) or rules.fault(of_key)
    if fault is not None:
        return unusable(routes, Refusal("key-mismatch", "/key", fault))
    if not keys or not columns["fields"]:
        return TablePlan(None, refusals)
    fault = _layout_fault(settings, columns, keys, rules) if table.layout is None else None
    if fault is not None:
        return unusable(routes, layout_refusal(fault))
    has_changed = table.columns is not None and sql_name(table.columns) != sql_name(columns)
    all_named = frozenset({*keys, *named})
    try:
        shape = rules.shape(_written(columns, table.named, all_named, closed), keys, how)
    except ValueError as error:
        raise OutputError(f"{table.target.name}: {error}") from None
    return TablePlan(shape, refusals, has_changed, named=all_named, settings=settings)


def _open_and_closed(
    names: set[str], columns: StructJson, rules: TableRules[ShapeT]
) -> tuple[set[str], set[str]]:
    """Return which columns of messages a table has, and which of these cannot be written."""
    # A name that no column has means the one of another case, as for `RowCells`.
    others = {one.lower() for one in names - {one["name"] for one in columns["fields"]}}
    found = ((one, one["name"]) for one in columns["fields"])
    there = [one for one, name in found if name in names or name.lower() in others]
    closed = {one["name"] for one in there if rules.fault(struct_json([one])) is not None}
    return {one["name"] for one in there} - closed, closed


def _check_kind(table: TableThere, *, is_json: bool) -> None:
    """Check that a table has JSON text if that is asked for, and else columns."""
    has = "columns" if is_json else "JSON text"
    if is_json and (not table.types or {KEY, ROW} <= table.types.keys()):
        return
    if is_json or table.is_text:
        raise OutputError(
            f"{table.target.name}: its rows are {has}, and row_schema asks for "
            f"{'JSON text' if is_json else 'columns'}; `rebuild` with this row_schema changes that"
        )


def _laid_out(table: TableThere, settings: Settings) -> list[CarriedColumn]:
    """Return the columns of a layout that a table lacks: they are made if their types are given.

    No message need have a value of them.
    """
    lacking = (one for one in settings.laid_out_by if one not in table.types)
    return [CarriedColumn(one, VOID, 0, ()) for one in lacking]


def _given(
    table: TableThere, given: StructJson, how: SchemaEvolution, rules: TableRules[ShapeT]
) -> StructJson:
    """Return the columns of a table after it got those that a user gives."""
    fault = rules.fault(given)
    found = evolved(table.columns, [(_GIVEN, rules.kept(given))], how, rules.widens)
    if fault is not None:
        raise OutputError(f"{table.target.name}: {fault}")
    if found.refused:
        text = f"{found.refused[_GIVEN]}; `rebuild` gives the table the columns of row_schema"
        raise OutputError(f"{table.target.name}: {text}")
    return found.columns


def unusable(routes: list[RouteKey], why: Refusal) -> TablePlan[Any]:
    """Return that no change can be applied to a table, and why."""
    return TablePlan(None, [_refused_alone(routes, why)], is_usable=False)


def _written(
    columns: StructJson,
    before: frozenset[str] | None,
    named: frozenset[str],
    closed: Collection[str],
) -> StructJson:
    """Return the columns of a table that are written: those named before, and those named now."""
    names = {one["name"] for one in columns["fields"]} if before is None else before | named
    kept = [one for one in columns["fields"] if one["name"] in names - {*closed}]
    return struct_json(kept)


def _refused_alone(routes: list[RouteKey], why: Refusal) -> RefusedRows:
    """Return that no change of a table is applied; deletes that have other tables are left."""
    return RefusedRows([one for one in routes if not goes_to_all(one[1], one[0])], why)


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


def _layout_fault(
    settings: Settings, columns: StructJson, keys: tuple[str, ...], rules: TableRules[Any]
) -> str | None:
    """Return why a new table cannot be partitioned or clustered as it should; None if it can."""
    if settings.partition_by and settings.cluster_by:
        return "it cannot have both `partition_by` and `cluster_by`"
    types = {field["name"]: field["type"] for field in columns["fields"]}
    for name in settings.laid_out_by:
        if name not in types:
            return f"no message has a value of column {name!r} yet; give its type by `columns`"
        if not isinstance(types[name], str):
            return f"column {name!r} is {sql_name(types[name])}, which has no order"
    faults = (
        transform_fault(one, types[one.column])
        or rules.part_fault(one.column, types[one.column], is_key=one.column in keys)
        for one in settings.partition_by or ()
    )
    return next(filter(None, faults), None)


def _check_layout(table: TableThere, settings: Settings) -> None:
    """Check that an existing table has the layout asked of it, if any."""
    has, asked = table.layout, settings.layout
    if has is None or asked is None or has == asked:
        return
    text = f"it has {has.text}, and `tables` asks for {asked.text}"
    raise OutputError(f"{table.target.name}: {text}: {_REBUILT}")


def _check_deletes(table: TableThere, settings: Settings) -> None:
    """Check that an existing table does with deleted rows what is asked.

    Rows that were removed have no flag, and the log is not asked for deletes of flagged ones.
    """
    has, asked = table.deletes, settings.deletes
    if has is None or has == asked:
        return
    raise OutputError(
        f"{table.target.name}: it was made with deletes={has!r}, and deletes={asked!r} is asked "
        f"for: a table keeps what it was made with until `rebuild` with deletes={asked!r} "
        "changes it"
    )


def layout_refusal(fault: str) -> Refusal:
    """Return why changes of a table are refused that cannot be made as it should."""
    text = f"the table cannot be made with its partitions: {fault}"
    return Refusal("partition-mismatch", "/source", text)


def _types_asked(
    table: TableThere,
    carried: Iterable[CarriedColumn],
    settings: Settings,
    rules: TableRules[ShapeT],
) -> dict[str, Any]:
    """Return the types that a user gave of columns, by their names.

    A table keeps those that it was made with.
    """
    held = table.types
    names = {*held} if table.named is None else {*held} & table.named
    asked = settings.types_of([*names, *(one.name for one in carried)])
    fields = [field_json(name, kind) for name, kind in asked.items()]
    kept = rules.kept(struct_json(fields))["fields"]
    known = {name: kind for name, kind in held.items() if name in table.given}
    return {**known, **{field["name"]: field["type"] for field in kept}}


def _checked_types(target: Target, columns: StructJson, given: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns of a table that have the types that a user gave, which all must have."""
    found = {field["name"]: field["type"] for field in columns["fields"] if field["name"] in given}
    for name, kind in found.items():
        if sql_name(kind) != sql_name(given[name]):
            text = f"column {name!r} is {sql_name(kind)}, and `tables` says {sql_name(given[name])}"
            raise OutputError(f"{target.name}: {text}: {_REBUILT}")
    return frozenset(found)
