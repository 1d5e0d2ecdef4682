"""What settings ask of the columns of a table: their types, and how its files are laid out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from changewire.engines.errors import OutputError
from changewire.engines.partitions import transform_fault
from changewire.engines.settings import Settings
from changewire.engines.typed.auto import CarriedColumn
from changewire.engines.typed.there import ShapeT, TableRules, TableThere
from changewire.engines.typed.types import StructJson, field_json, sql_name, struct_json
from changewire.tables.names import Target
from changewire.tables.routing import Refusal

_REBUILT: Final = (
    "a table keeps what it was made with until `rebuild` with row_schema and these settings "
    "changes it"
)


def layout_fault(
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


def check_layout(table: TableThere, settings: Settings) -> None:
    """Check that an existing table has the layout asked of it, if any."""
    has, asked = table.layout, settings.layout
    if has is None or asked is None or has == asked:
        return
    text = f"it has {has.text}, and `tables` asks for {asked.text}"
    raise OutputError(f"{table.target.name}: {text}: {_REBUILT}")


def layout_refusal(fault: str) -> Refusal:
    """Return why changes of a table are refused that cannot be made as it should."""
    text = f"the table cannot be made with its partitions: {fault}"
    return Refusal("partition-mismatch", "/source", text)


def types_asked(
    table: TableThere,
    carried: Iterable[CarriedColumn],
    settings: Settings,
    rules: TableRules[ShapeT],
) -> dict[str, Any]:
    """Return the types that a user gave of columns, by their names.

    A table keeps those that it was made with.
    """
    there = table.columns or struct_json([])
    held = {field["name"]: field["type"] for field in there["fields"]}
    names = {*held} if table.named is None else {*held} & table.named
    asked = settings.types_of([*names, *(one.name for one in carried)])
    fields = [field_json(name, kind) for name, kind in asked.items()]
    kept = rules.kept(struct_json(fields))["fields"]
    known = {name: kind for name, kind in held.items() if name in table.given}
    return {**known, **{field["name"]: field["type"] for field in kept}}


def checked_types(target: Target, columns: StructJson, given: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns of a table that have the types that a user gave, which all must have."""
    found = {field["name"]: field["type"] for field in columns["fields"] if field["name"] in given}
    for name, kind in found.items():
        if sql_name(kind) != sql_name(given[name]):
            text = f"column {name!r} is {sql_name(kind)}, and `tables` says {sql_name(given[name])}"
            raise OutputError(f"{target.name}: {text}: {_REBUILT}")
    return frozenset(found)
