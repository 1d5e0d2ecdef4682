"""``fields.py`` of a family, and what is made from it: ``spark.py``, ``arrow.py``, ``rows.py``."""

from __future__ import annotations

from changewire_codegen.columns import Struct, constant, struct_of, structs, tables
from changewire_codegen.names import snake
from changewire_codegen.nodes import Family
from changewire_codegen.row_type import struct_type
from changewire_codegen.writer import module
from changewire_library.fields import Column, Field, ListOf, MapOf


def fields(family: Family, package: str) -> str:
    """Return the source of the module, unformatted: its lines are not wrapped."""
    writer = module("Columns", family, f"from {package}.fields import Field, ListOf, MapOf, Struct")
    writer("# fmt: off")
    for struct in structs(family):
        head = f"{constant(struct.name, family)} = Struct({_quoted(struct.comment)}, ["
        with writer.block(head):
            for field in struct.fields:
                writer(f"Field({', '.join(_arguments(field, family))}),")
        writer("])")
    return writer.text()


def _arguments(field: Field, family: Family) -> list[str]:
    found = [_quoted(field.name), _type(field.column, family)]
    if family.kind == "tables":
        return found
    texts = (field.presence, field.comment, *([field.attribute] if field.attribute else []))
    return [*found, *map(_quoted, texts)]


def _quoted(text: str) -> str:
    """Return a text as a literal in double quotes, as ruff would write it."""
    quoted = ascii(text) if not text.isprintable() else repr(text)
    if quoted[0] == "'" and '"' not in text:
        return f'"{quoted[1:-1]}"'
    return quoted


def _type(column: Column, family: Family) -> str:
    if isinstance(column, Struct):
        return constant(column.name, family)
    if isinstance(column, ListOf):
        return f"ListOf({_type(column.items, family)})"
    if isinstance(column, MapOf):
        return f"MapOf({_type(column.items, family)})"
    return _quoted(str(column))


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
    writer = module(what, family, *imports, f"from {package}.{family.name} import fields")
    writer(f"__all__ = {[*names.values()]!r}")
    for name, target in names.items():
        writer()
        writer(f"{line.format(name=target)}(fields.{target})")
        writer.docstring(family.definitions[name].description)
    return writer.text()


def arrow(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    own = f"from {package}.{family.name} import fields, models"
    writer = module("Arrow columns", family, own, f"from {package}.columns import Structs, builder")
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
    writer = module("Types of rows", family, "from pyspark.sql.types import StructType")
    names = {name: constant(name, family) for name in tables(family)}
    writer(f"__all__ = {[*names.values()]!r}")
    for name, target in names.items():
        writer()
        columns = struct_type(struct_of(family, name))
        writer(f"_{target}: Final[dict[str, Any]] = {columns!r}")
        writer(f"{target}: Final[StructType] = StructType.fromJson(_{target})")
        writer.docstring(family.definitions[name].description)
    return writer.text()
