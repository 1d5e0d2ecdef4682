"""The schema of one table's rows to a column type: StructType's own JSON form, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from changewire_codegen.build import build_family
from changewire_codegen.columns import EXTRA, struct_of, tables
from changewire_codegen.dialect import check_schema
from changewire_codegen.errors import SchemaError
from changewire_library.fields import Column, Field, Leaf, ListOf, MapOf, Struct

_FOLDER: Final = "rows"
_FILE: Final = "row.json"
_META: Final = {"title": "Rows", "description": "Rows of one table.", "encoding": "json"}

_TYPES: Final[Mapping[Leaf, str]] = {
    "boolean": "boolean",
    "int32": "integer",
    "integer": "long",
    "number": "double",
    "bytes": "binary",
    "datetime": "timestamp",
}
"""Types of scalars; the others are strings."""


def row_type(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the column type of rows, as ``StructType.fromJson`` and Delta's log have it.

    Every column may be NULL. The metadata of a field holds its description as ``comment``; where a
    value of any type becomes JSON text, also ``"contentMediaType": "application/json"``.

    Args:
        schema: An object with properties, in the dialect of ``schemas/README.md``; it refers to
            its own definitions only.

    Raises:
        SchemaError: It is outside the dialect, or describes no row.
    """
    path = f"{_FOLDER}/{_FILE}"
    check_schema(path, schema)
    family = build_family(_FOLDER, _META, {_FILE: schema})
    (name,) = family.variants.values()
    if name not in tables(family):
        raise SchemaError(path, "", "a row is an object with properties")
    return struct_type(struct_of(family, name))


def struct_type(struct: Struct) -> dict[str, Any]:
    """Return the JSON form of the StructType of a struct, without unnamed properties."""
    fields = [_field(field) for field in struct.fields if field.name != EXTRA]
    return {"type": "struct", "fields": fields}


def _field(field: Field) -> dict[str, Any]:
    metadata = {"comment": field.comment}
    if field.column in {"json", "exact", "text"}:
        metadata["contentMediaType"] = "application/json"
    kind = _type(field.column)
    return {"name": field.name, "type": kind, "nullable": True, "metadata": metadata}


def _type(column: Column) -> Any:
    if isinstance(column, Struct):
        return struct_type(column)
    if isinstance(column, ListOf):
        return {"type": "array", "elementType": _type(column.items), "containsNull": True}
    if isinstance(column, MapOf):
        values = _type(column.items)
        return {"type": "map", "keyType": "string", "valueType": values, "valueContainsNull": True}
    return _TYPES.get(column, "string")
