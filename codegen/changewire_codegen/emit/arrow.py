"""``arrow.py`` of a family: straight-line builders from models to Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.columns import (
    Column,
    Field,
    Leaf,
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

_TYPES: Mapping[str, str] = {
    "boolean": "pa.bool_()",
    "integer": "pa.int64()",
    "number": "pa.float64()",
    "string": "pa.string()",
    "bytes": "pa.binary()",
    "datetime": 'pa.timestamp("us", tz="UTC")',
}


def arrow(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    writer = Writer()
    writer(module_docstring("Arrow columns", family))
    writer("from __future__ import annotations")
    writer("from collections.abc import Sequence")
    writer("from typing import Any")
    writer("import pyarrow as pa")
    writer("from msgspec import UNSET")
    writer(f"from {package}.{family.name} import models")
    writer(f"from {package}.columns import json_texts, lists, maps, spread")
    writer(f"__all__ = {[_function(name, family) for name in tables(family)]!r}")
    for name in structs(family):
        writer()
        _builder(name, family, writer)
    return writer.text()


def _function(name: str, family: Family) -> str:
    return f"{snake(name)}_array" if name in tables(family) else f"_{snake(name)}_array"


def _builder(name: str, family: Family, writer: Writer) -> None:
    head = f"def {_function(name, family)}(values: Sequence[models.{name}]) -> pa.StructArray:"
    columns = fields(name, family)
    with writer.block(head):
        if name in tables(family):
            writer.docstring(
                f"Return one struct for each {name}; the struct type of the same name is in `spark`."
            )
        with writer.block("return pa.StructArray.from_arrays("):
            with writer.block("["):
                for field in columns:
                    writer(f"{_array(field, family)},")
            writer("],")
            writer(f"names={[field.name for field in columns]!r},")
        writer(")")


def _array(field: Field, family: Family) -> str:
    """Return the expression of one column."""
    column = field.column
    if isinstance(column, Leaf) and column.kind != "json":
        return f"pa.array({_values(field)}, {_TYPES[column.kind]})"
    if isinstance(column, Leaf):
        return f"json_texts({_values(field, 'UNSET')}, nullable={field.nullable})"
    return _nested(_values(field), column, family, nullable=field.nullable)


def _values(field: Field, absent: str = "None") -> str:
    """Return the list of a field's values, with ``absent`` for those that have none."""
    if not field.everywhere:
        value = f"getattr(value, {field.attribute!r}, UNSET)"
    else:
        value = f"value.{field.attribute}"
    if absent == "UNSET" or not field.optional:
        return f"[{value} for value in values]"
    return f"[None if (x := {value}) is UNSET else x for value in values]"


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
        return f"lambda items: pa.array(items, {_TYPES[column.kind]})"
    if isinstance(column, (ListColumn, MapColumn)):
        return f"lambda items: {_nested('items', column, family, nullable=True)}"
    return _function(column.definition, family)
