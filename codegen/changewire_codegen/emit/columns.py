"""``fields.py`` of a family, and what is made from it: ``spark.py``, ``arrow.py``, ``rows.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from changewire_codegen.columns import (
    EXTRA,
    Column,
    Leaf,
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
from changewire_codegen.row_type import struct_type
from changewire_codegen.writer import Writer, module_docstring

ROW_SCHEMA: Final = {"changewire.typed_by": "row-schema"}
"""Metadata by which the runtime knows that a JSON Schema gave a column its type."""

_PRESENCE: Final[Mapping[tuple[bool, bool, bool], str]] = {
    (False, False, True): "required",
    (True, False, True): "nullable",
    (True, True, True): "optional",
    (True, True, False): "partial",
}
"""By whether it may be NULL, may be absent, and is an attribute everywhere."""


def fields(family: Family, package: str) -> str:
    """Return the source of the module, unformatted: its lines are not wrapped."""
    writer = Writer()
    writer(module_docstring("Columns", family))
    writer("from __future__ import annotations")
    writer(f"from {package}.fields import Field, ListOf, MapOf, Struct")
    writer("# fmt: off")
    for struct in structs(family):
        text = " / ".join(family.definitions[arm].description for arm in struct.definitions)
        with writer.block(f"{constant(struct.name, family)} = Struct({_quoted(text)}, ["):
            for field in fields_of(struct, family):
                writer(f"Field({', '.join(_arguments(field, family))}),")
        writer("])")
    return writer.text()


def _arguments(field: StructField, family: Family) -> list[str]:
    found = [_quoted(field.name), _column(field, family)]
    if family.kind == "tables":
        return found
    found.append(_quoted(_PRESENCE[field.nullable, field.optional, field.everywhere]))
    found.append(_quoted(field.description))
    return [*found, *([_quoted(field.attribute)] if field.attribute != field.name else [])]


def _quoted(text: str) -> str:
    """Return a text as a literal in double quotes, as ruff would write it."""
    quoted = ascii(text) if not text.isprintable() else repr(text)
    if quoted[0] == "'" and '"' not in text:
        return f'"{quoted[1:-1]}"'
    return quoted


def _column(field: StructField, family: Family) -> str:
    if field.name == EXTRA and family.encoding != "json":
        return '"extra"'
    return _type(field.column, family)


def _type(column: Column, family: Family) -> str:
    if isinstance(column, Leaf):
        is_exact = column.kind == "json" and family.encoding != "json"
        return _quoted("exact" if is_exact else column.kind)
    if isinstance(column, ListColumn):
        return f"ListOf({_type(column.items, family)})"
    if isinstance(column, MapColumn):
        return f"MapOf({_type(column.values, family)})"
    return constant(column.name, family)


def spark(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    imports = ["from pyspark.sql.types import StructType"]
    imports.append(f"from {package}.spark_types import struct_type")
    return _made("Spark types", family, package, imports, "{name}: Final[StructType] = struct_type")


def arrow_types(family: Family, package: str) -> str:
    """Return the source of the module for a family of tables, unformatted."""
    imports = ["import pyarrow as pa", f"from {package}.columns import arrow_type"]
    return _made(
        "Arrow types", family, package, imports, "{name}: Final[pa.StructType] = arrow_type"
    )


def _made(what: str, family: Family, package: str, imports: list[str], line: str) -> str:
    """Return a module that makes a constant of each table's columns."""
    names = {name: constant(name, family) for name in tables(family)}
    writer = Writer()
    writer(module_docstring(what, family))
    for text in ("from __future__ import annotations", "from typing import Final", *imports):
        writer(text)
    writer(f"from {package}.{family.name} import fields")
    writer(f"__all__ = {[*names.values()]!r}")
    for name, target in names.items():
        writer()
        writer(f"{line.format(name=target)}(fields.{target})")
        writer.docstring(family.definitions[name].description)
    return writer.text()


def arrow(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    writer = Writer()
    writer(module_docstring("Arrow columns", family))
    writer("from __future__ import annotations")
    writer("from collections.abc import Callable, Sequence")
    writer("from typing import Final")
    writer(f"from {package}.{family.name} import fields, models")
    writer(f"from {package}.columns import Structs, builder")
    writer(f"__all__ = {[f'{snake(name)}_array' for name in tables(family)]!r}")
    for name in tables(family):
        kind = f"Callable[[Sequence[models.{name}]], Structs]"
        writer()
        writer(f"{snake(name)}_array: Final[{kind}] = builder(fields.{constant(name, family)})")
        writer.docstring(f"Return one struct for each {name}; `spark` has its type.")
    return writer.text()


def rows(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    del package
    writer = Writer()
    writer(module_docstring("Types of rows", family))
    writer("from __future__ import annotations")
    writer("from typing import Any, Final")
    writer("from pyspark.sql.types import StructType")
    names = {name: constant(name, family) for name in tables(family)}
    writer(f"__all__ = {[*names.values()]!r}")
    for name, target in names.items():
        columns = struct_type(StructColumn((name,)), family)
        for field in columns["fields"]:
            field["metadata"] |= ROW_SCHEMA
        writer()
        writer(f"_{target}: Final[dict[str, Any]] = {columns!r}")
        writer(f"{target}: Final[StructType] = StructType.fromJson(_{target})")
        writer.docstring(family.definitions[name].description)
    return writer.text()
