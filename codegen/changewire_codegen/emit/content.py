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


def variant_rows(family: Family) -> dict[str, list[list[str]]]:
    """Return such a table for each variant, by its name in the column ``variant``.

    A format that does not distinguish variants has none.
    """
    message = StructColumn((family.roles["message"],))
    head = ["column", "type", "meaning"]
    return {
        name: [head, ["---"] * len(head), *map(list, _held(message, message, arms, "", family))]
        for name, arms in _variants(message, family).items()
    }


def _variants(message: StructColumn, family: Family) -> dict[str, tuple[str, ...]]:
    """Return the definitions of each variant: schemas of their own that a message is or wraps."""
    inner = (_struct(field.column) for field in fields_of(message, family))
    reached = [*_arms(message, family)]
    reached += [arm for struct in inner if struct is not None for arm in _arms(struct, family)]
    titles = set(family.variants.values()) - set(family.roles.values())
    arms_of = {title: _arms(StructColumn((title,)), family) for title in titles}
    found = {title: arms for title, arms in arms_of.items() if {*arms} <= {*reached}}
    return dict(sorted(found.items(), key=lambda item: reached.index(item[1][0])))


def _held(
    struct: StructColumn, own: StructColumn, arms: tuple[str, ...], path: str, family: Family
) -> Iterator[tuple[str, str, str]]:
    """Yield path, type and meaning of the columns of a struct that a variant may fill."""
    chosen = tuple(arm for arm in _arms(own, family) if arm in arms)
    narrowed = StructColumn(chosen) if chosen else own
    fields = {field.name: field for field in fields_of(narrowed, family)}
    for field in fields_of(struct, family):
        if field.name not in fields:
            continue
        place = f"{path}{field.name}"
        yield f"`{place}`", _words(field.column), fields[field.name].description
        below, owned = _struct(field.column), _struct(fields[field.name].column)
        if below is not None and owned is not None:
            yield from _held(below, owned, arms, f"{place}.", family)


def _rows(
    struct: StructColumn, path: str, variants: str, family: Family
) -> Iterator[tuple[str, str, str]]:
    """Yield path, type and variants of the columns of a struct, each before those it has."""
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
    """Return the struct that a column is, or that its elements are; None if it has no struct."""
    if isinstance(column, ListColumn):
        return _struct(column.items)
    if isinstance(column, MapColumn):
        return _struct(column.values)
    return column if isinstance(column, StructColumn) else None
