"""The columns of a format's messages, for its reference page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from changewire_codegen.columns import Struct, inner_struct, struct_of
from changewire_codegen.nodes import Family, RowUnion, Union
from changewire_library.fields import Column, Leaf, ListOf, MapOf

_SQL: Final[Mapping[Leaf, str]] = {
    "boolean": "boolean",
    "int32": "int",
    "integer": "bigint",
    "number": "double",
    "string": "string",
    "bytes": "binary",
    "datetime": "timestamp",
    "json": "string: JSON text",
    "exact": "string: JSON text",
    "extra": "string: JSON text",
    "text": "string: JSON text, as it was received",
}
"""What a column of scalars is in SQL."""


def content(family: Family) -> list[str]:
    """Return tables of the columns of a message, and of those that each variant may fill."""
    text = (
        "What `messages` of `changewire.spark` and `changewire.arrow` gives a message, below "
        "`content`. Where variants differ in the type of a property, its column is JSON text."
    )
    message = struct_of(family, family.roles["message"])
    rows = _rows(message, "", "all", family)
    lines = ["## Columns", "", text, "", *table(["column", "type", "variants"], rows)]
    for variant, arms in _variants(message, family).items():
        note = f"If `variant` is `{variant}`, only these columns can have values."
        held = table(["column", "type", "meaning"], _held(message, message, arms, "", family))
        lines += [f"### Columns of {variant}", "", note, "", *held]
    return lines


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown, and an empty one."""
    cells = [[text_of(text).replace("|", "\\|") for text in row] for row in (head, *rows)]
    first, *others = [f"| {' | '.join(row)} |" for row in cells]
    return [first, f"|{'---|' * len(head)}", *others, ""]


def text_of(text: str) -> str:
    """Return schema text as Markdown text: no markup of HTML, one line."""
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())


def _variants(message: Struct, family: Family) -> dict[str, tuple[str, ...]]:
    """Return the definitions of each variant: schemas of their own that a message is or wraps.

    A format that does not distinguish variants has none.
    """
    inner = (inner_struct(field.column) for field in message.fields)
    reached = [*_arms(message, family)]
    reached += [arm for struct in inner if struct is not None for arm in _arms(struct, family)]
    titles = set(family.variants.values()) - set(family.roles.values())
    arms_of = {title: _arms(struct_of(family, title), family) for title in titles}
    found = {title: arms for title, arms in arms_of.items() if {*arms} <= {*reached}}
    return dict(sorted(found.items(), key=lambda item: reached.index(item[1][0])))


def _held(
    struct: Struct, own: Struct, arms: tuple[str, ...], path: str, family: Family
) -> Iterator[tuple[str, str, str]]:
    """Yield path, type and meaning of the columns of a struct that a variant may fill."""
    chosen = [arm for arm in _arms(own, family) if arm in arms]
    narrowed = struct_of(family, *chosen) if chosen else own
    fields = {field.name: field for field in narrowed.fields}
    for field in struct.fields:
        if field.name not in fields:
            continue
        place = f"{path}{field.name}"
        yield f"`{place}`", _words(field.column), fields[field.name].comment
        below, owned = inner_struct(field.column), inner_struct(fields[field.name].column)
        if below is not None and owned is not None:
            yield from _held(below, owned, arms, f"{place}.", family)


def _rows(
    struct: Struct, path: str, variants: str, family: Family
) -> Iterator[tuple[str, str, str]]:
    """Yield path, type and variants of the columns of a struct, each before those it has."""
    arms = _arms(struct, family)
    names = {arm: {field.name for field in struct_of(family, arm).fields} for arm in arms}
    for field in struct.fields:
        place = f"{path}{field.name}"
        holders = [arm for arm in arms if field.name in names[arm]]
        # The last column of a union holds what no schema names.
        has_all = len(holders) in {0, len(arms)}
        found = variants if has_all else ", ".join(f"`{arm}`" for arm in holders)
        yield f"`{place}`", _words(field.column), found
        inner = inner_struct(field.column)
        if inner is not None:
            yield from _rows(inner, f"{place}.", found, family)


def _arms(struct: Struct, family: Family) -> tuple[str, ...]:
    """Return the definitions that a struct is made of."""
    definition = family.definitions[struct.definitions[0]]
    if len(struct.definitions) == 1 and isinstance(definition, Union | RowUnion):
        return definition.arms
    return struct.definitions


def _words(column: Column) -> str:
    if isinstance(column, ListOf):
        return f"array of {_words(column.items)}"
    if isinstance(column, MapOf):
        return f"map of string to {_words(column.items)}"
    return _SQL[column] if isinstance(column, str) else "struct"
