"""``spark.py`` and ``rows.py`` of a family: StructTypes with comments."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.columns import (
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
from changewire_codegen.nodes import Family
from changewire_codegen.row_type import struct_type
from changewire_codegen.writer import Writer, module_docstring

_TYPES: Mapping[str, str] = {
    "boolean": "BooleanType()",
    "int32": "IntegerType()",
    "integer": "LongType()",
    "number": "DoubleType()",
    "string": "StringType()",
    "bytes": "BinaryType()",
    "datetime": "TimestampType()",
    "json": "StringType()",
    "text": "StringType()",
}

ROW_SCHEMA = {"changewire.typed_by": "row-schema"}
"""Metadata by which the runtime knows that a JSON Schema gave a column its type."""


def spark(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    del package
    writer = Writer()
    writer(module_docstring("Spark types", family))
    writer("from __future__ import annotations")
    writer("from pyspark.sql.types import (")
    names = {value.removesuffix("()") for value in _TYPES.values()}
    for name in sorted(names | {"ArrayType", "MapType", "StructField", "StructType"}):
        writer(f"    {name},")
    writer(")")
    public = [constant(name, family) for name in tables(family)]
    writer(f"__all__ = {public!r}")
    for struct in structs(family):
        writer()
        with writer.block(f"{constant(struct.name, family)} = StructType(["):
            for field in fields_of(struct, family):
                writer(f"StructField({_arguments(field, family)}),")
        writer("])")
        texts = [family.definitions[arm].description for arm in struct.definitions]
        writer.docstring(" / ".join(texts))
    return writer.text()


def _arguments(field: StructField, family: Family) -> str:
    arguments = f"{field.name!r}, {_type(field.column, family)}"
    if family.kind == "tables":
        return arguments
    comment = {"comment": field.description}
    return f"{arguments}, nullable={field.nullable}, metadata={comment!r}"


def _type(column: Column, family: Family) -> str:
    if isinstance(column, Leaf):
        return _TYPES[column.kind]
    if isinstance(column, ListColumn):
        return f"ArrayType({_type(column.items, family)})"
    if isinstance(column, MapColumn):
        return f"MapType(StringType(), {_type(column.values, family)})"
    return constant(column.name, family)


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
