"""``rows.py`` of a family of row schemas: what ``rows`` of ``changewire.spark.decode`` takes."""

from __future__ import annotations

from changewire_codegen.columns import StructColumn, tables
from changewire_codegen.emit.head import module_docstring
from changewire_codegen.emit.spark import constant
from changewire_codegen.nodes import Family
from changewire_codegen.row_type import struct_type
from changewire_codegen.writer import Writer

ROW_SCHEMA = {"changewire.typed_by": "row-schema"}
"""Metadata by which the runtime knows that a JSON Schema gave a column its type."""


def rows(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    del package
    writer = Writer()
    writer(module_docstring("Types of rows", family))
    writer("from __future__ import annotations")
    writer("from typing import Any, Final")
    writer("from pyspark.sql.types import StructType")
    names = tables(family)
    writer(f"__all__ = {[constant(name) for name in names]!r}")
    for name in names:
        columns = struct_type(StructColumn((name,)), family)
        for field in columns["fields"]:
            field["metadata"] |= ROW_SCHEMA
        writer()
        writer(f"_{constant(name)}: Final[dict[str, Any]] = {columns!r}")
        writer(f"{constant(name)}: Final[StructType] = StructType.fromJson(_{constant(name)})")
        writer.docstring(family.definitions[name].description)
    return writer.text()
