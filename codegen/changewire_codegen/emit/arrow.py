"""``arrow.py`` of a family: straight-line builders from models to Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.columns import (
    Column,
    Field,
    Leaf,
    LeafKind,
    ListColumn,
    MapColumn,
    fields,
    structs,
    tables,
)
from changewire_codegen.emit.head import module_docstring
from changewire_codegen.names import snake
from changewire_codegen.nodes import Family
from changewire_codegen.writer import Writer

_TYPES: Mapping[LeafKind, str] = {
    "boolean": "BOOLEAN",
    "integer": "INTEGER",
    "number": "NUMBER",
    "string": "STRING",
    "bytes": "BYTES",
    "datetime": "DATETIME",
}


def arrow(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    writer = Writer()
    writer(module_docstring("Arrow columns", family))
    writer("from __future__ import annotations")
    writer("from collections.abc import Sequence")
    writer("from msgspec import UNSET")
    writer(f"from {package}.{family.name} import models")
    names = [
        "column",
        "json_texts",
        "known",
        "lists",
        "maps",
        "raw_texts",
        "spread",
        "structs",
        "Structs",
    ]
    writer(f"from {package}.columns import {', '.join([*_TYPES.values(), *names])}")
    writer(f"__all__ = {[_function(name, family) for name in tables(family)]!r}")
    for name in structs(family):
        writer()
        _builder(name, family, writer)
    return writer.text()


def _function(name: str, family: Family) -> str:
    return f"{snake(name)}_array" if name in tables(family) else f"_{snake(name)}_array"


def _builder(name: str, family: Family, writer: Writer) -> None:
    with writer.block(
        f"def {_function(name, family)}(values: Sequence[models.{name}]) -> Structs:"
    ):
        if name in tables(family):
            text = f"Return one struct for each {name}; `spark` has its type under the same name."
            writer.docstring(text)
        with writer.block("return structs({"):
            for field in fields(name, family):
                writer(f"{field.name!r}: {_array(field, family)},")
        writer("})")


def _array(field: Field, family: Family) -> str:
    """Return the expression of one column."""
    column = field.column
    value = f"value.{field.attribute}"
    if not field.everywhere:
        value = f"getattr(value, {field.attribute!r}, UNSET)"
    values = f"[{value} for value in values]"
    if isinstance(column, Leaf) and column.kind == "json":
        return f"json_texts({values}, nullable={field.nullable})"
    if isinstance(column, Leaf) and column.kind == "text":
        return f"raw_texts({values})"
    if field.optional:
        values = f"known({values})"
    if isinstance(column, Leaf):
        return f"column({values}, {_TYPES[column.kind]})"
    return _nested(values, column, family, nullable=field.nullable)


def _nested(values: str, column: Column, family: Family, *, nullable: bool) -> str:
    if isinstance(column, ListColumn):
        return f"lists({values}, {_build(column.items, family)})"
    if isinstance(column, MapColumn):
        return f"maps({values}, {_build(column.values, family)})"
    build = _build(column, family)
    return f"spread({values}, {build})" if nullable else f"{build}({values})"


def _build(column: Column, family: Family) -> str:
    """Return the function from a list of values to their array."""
    if isinstance(column, Leaf):
        if column.kind == "json":
            return "json_texts"
        return f"lambda items: column(items, {_TYPES[column.kind]})"
    if isinstance(column, (ListColumn, MapColumn)):
        return f"lambda items: {_nested('items', column, family, nullable=True)}"
    return _function(column.definition, family)
