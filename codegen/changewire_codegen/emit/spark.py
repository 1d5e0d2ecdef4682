"""``spark.py`` of a family: StructTypes with comments."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.columns import Column, Leaf, ListColumn, MapColumn, fields, structs, tables
from changewire_codegen.emit.head import module_docstring
from changewire_codegen.names import snake
from changewire_codegen.nodes import Family
from changewire_codegen.writer import Writer

_TYPES: Mapping[str, str] = {
    "boolean": "BooleanType()",
    "integer": "LongType()",
    "number": "DoubleType()",
    "string": "StringType()",
    "bytes": "BinaryType()",
    "datetime": "TimestampType()",
    "json": "StringType()",
    "text": "StringType()",
}


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
    public = [constant(name) for name in tables(family)]
    writer(f"__all__ = {public!r}")
    for name in structs(family):
        writer()
        target = constant(name) if name in tables(family) else f"_{constant(name)}"
        with writer.block(f"{target} = StructType(["):
            for field in fields(name, family):
                comment = {"comment": field.description}
                arguments = (
                    f"{field.name!r}, {_type(field.column, family)}, nullable={field.nullable}"
                )
                writer(f"StructField({arguments}, metadata={comment!r}),")
        writer("])")
        writer.docstring(family.definitions[name].description)
    return writer.text()


def constant(name: str) -> str:
    """Return the name of the constant for a definition."""
    return snake(name).upper()


def _type(column: Column, family: Family) -> str:
    if isinstance(column, Leaf):
        return _TYPES[column.kind]
    if isinstance(column, ListColumn):
        return f"ArrayType({_type(column.items, family)})"
    if isinstance(column, MapColumn):
        return f"MapType(StringType(), {_type(column.values, family)})"
    public = column.definition in tables(family)
    return constant(column.definition) if public else f"_{constant(column.definition)}"
