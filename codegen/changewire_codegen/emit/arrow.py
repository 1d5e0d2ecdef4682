"""``arrow.py`` of a family: builders from models to Arrow columns, or the types of tables."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.columns import (
    EXTRA,
    Column,
    Leaf,
    LeafKind,
    ListColumn,
    MapColumn,
    StructColumn,
    StructField,
    constant,
    fields_of,
    structs,
    tables,
)
from changewire_codegen.names import snake
from changewire_codegen.nodes import Family
from changewire_codegen.writer import Writer, module_docstring

_TYPES: Mapping[LeafKind, str] = {
    "boolean": "BOOLEAN",
    "int32": "INT32",
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
        "exact_texts",
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
    for struct in structs(family):
        writer()
        _builder(struct, family, writer)
    return writer.text()


def arrow_types(family: Family, package: str) -> str:
    """Return the source of the module for a family of tables, unformatted."""
    writer = Writer()
    writer(module_docstring("Arrow types", family))
    writer("from __future__ import annotations")
    writer("from typing import Final")
    writer("import pyarrow as pa")
    writer(f"from {package} import columns")
    writer(f"__all__ = {[constant(name, family) for name in tables(family)]!r}")
    for struct in structs(family):
        writer()
        with writer.block(f"{constant(struct.name, family)}: Final = pa.struct(["):
            for field in fields_of(struct, family):
                writer(f"pa.field({field.name!r}, {_type(field.column, family)}),")
        writer("])")
        writer.docstring(family.definitions[struct.name].description)
    return writer.text()


def _type(column: Column, family: Family) -> str:
    if isinstance(column, Leaf):
        return f"columns.{_TYPES.get(column.kind, 'STRING')}"
    if isinstance(column, ListColumn):
        return f"pa.list_({_type(column.items, family)})"
    if isinstance(column, MapColumn):
        return f"pa.map_(columns.STRING, {_type(column.values, family)})"
    return constant(column.name, family)


def _function(name: str, family: Family) -> str:
    return f"{snake(name)}_array" if name in tables(family) else f"_{snake(name)}_array"


def _builder(struct: StructColumn, family: Family, writer: Writer) -> None:
    name = struct.name
    kinds = " | ".join(f"models.{arm}" for arm in struct.definitions)
    with writer.block(f"def {_function(name, family)}(values: Sequence[{kinds}]) -> Structs:"):
        if name in tables(family):
            text = f"Return one struct for each {name}; `spark` has its type under the same name."
            writer.docstring(text)
        with writer.block("return structs({"):
            for field in fields_of(struct, family):
                writer(f"{field.name!r}: {_array(field, family)},")
        writer("})")


def _array(field: StructField, family: Family) -> str:
    """Return the expression of one column."""
    column = field.column
    value = f"value.{field.attribute}"
    if field.name == EXTRA and family.encoding != "json":
        value = f"dict({value} or ()) or None"
    if not field.everywhere:
        value = f"getattr(value, {field.attribute!r}, UNSET)"
    values = f"[{value} for value in values]"
    if isinstance(column, Leaf) and column.kind == "json":
        return f"{_texts(family)}({values}, nullable={field.nullable})"
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
            return _texts(family)
        return f"lambda items: column(items, {_TYPES[column.kind]})"
    if isinstance(column, (ListColumn, MapColumn)):
        return f"lambda items: {_nested('items', column, family, nullable=True)}"
    return _function(column.name, family)


def _texts(family: Family) -> str:
    """Return the function from values of any type to JSON text."""
    return "json_texts" if family.encoding == "json" else "exact_texts"
