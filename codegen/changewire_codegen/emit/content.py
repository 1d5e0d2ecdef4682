"""The columns of a format's messages, for its reference page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from changewire_codegen.columns import (
    Column,
    Leaf,
    LeafKind,
    ListColumn,
    MapColumn,
    StructColumn,
    fields_of,
)
from changewire_codegen.nodes import Family, RowUnion, Union

_SQL: Final[Mapping[LeafKind, str]] = {
    "boolean": "boolean",
    "int32": "int",
    "integer": "bigint",
    "number": "double",
    "string": "string",
    "bytes": "binary",
    "datetime": "timestamp",
    "json": "string: JSON text",
    "text": "string: JSON text, as it was received",
}
"""What a column of scalars is in SQL."""

_ALL: Final = "all"


def content_rows(family: Family) -> list[list[str]]:
    """Return the rows of a table: path, type and variants of each column of a message."""
    message = StructColumn((family.roles["message"],))
    rows = [
        [f"`{path}`", kind, variants] for path, kind, variants in _rows(message, "", _ALL, family)
    ]
    head = ["column", "type", "variants"]
    return [head, ["---"] * len(head), *rows]


def _rows(
    struct: StructColumn, path: str, variants: str, family: Family
) -> Iterator[tuple[str, str, str]]:
    """Yield path, type and variants of the columns of a struct, each before those it holds."""
    arms = _arms(struct, family)
    names = {arm: {field.name for field in fields_of(StructColumn((arm,)), family)} for arm in arms}
    for field in fields_of(struct, family):
        place = f"{path}{field.name}"
        holders = [arm for arm in arms if field.name in names[arm]]
        # The last column of a union holds what no schema names.
        has_all = len(holders) in {0, len(arms)}
        found = variants if has_all else ", ".join(f"`{arm}`" for arm in holders)
        yield place, _words(field.column), found
        inner = _struct(field.column)
        if inner is not None:
            yield from _rows(inner, f"{place}.", found, family)


def _arms(struct: StructColumn, family: Family) -> tuple[str, ...]:
    """Return the definitions that a struct is made of."""
    first, *others = struct.definitions
    definition = family.definitions[first]
    if not others and isinstance(definition, (Union, RowUnion)):
        return definition.arms
    return struct.definitions


def _words(column: Column) -> str:
    if isinstance(column, Leaf):
        return _SQL[column.kind]
    if isinstance(column, ListColumn):
        return f"array of {_words(column.items)}"
    if isinstance(column, MapColumn):
        return f"map of string to {_words(column.values)}"
    return "struct"


def _struct(column: Column) -> StructColumn | None:
    """Return the struct that a column is, or that its elements are; None if it holds no struct."""
    if isinstance(column, ListColumn):
        return _struct(column.items)
    if isinstance(column, MapColumn):
        return _struct(column.values)
    return column if isinstance(column, StructColumn) else None
