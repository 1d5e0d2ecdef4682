"""The schema of one table's rows to a column type: StructType's own JSON form, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from changewire_codegen.build import build_family
from changewire_codegen.columns import (
    EXTRA,
    Column,
    Leaf,
    LeafKind,
    ListColumn,
    MapColumn,
    StructColumn,
    StructField,
    fields_of,
    tables,
)
from changewire_codegen.dialect import check_schema
from changewire_codegen.encodings import check_encoding
from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import Family

_FOLDER: Final = "rows"
_FILE: Final = "row.json"
_META: Final = {"title": "Rows", "description": "Rows of one table.", "encoding": "json"}

_TYPES: Final[Mapping[LeafKind, str]] = {
    "boolean": "boolean",
    "int32": "integer",
    "integer": "long",
    "number": "double",
    "string": "string",
    "bytes": "binary",
    "datetime": "timestamp",
    "json": "string",
    "text": "string",
}

_JSON_TEXT: Final = frozenset({"json", "text"})


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
    check_encoding(path, schema, _META["encoding"])
    family = build_family(_FOLDER, _META, {_FILE: schema})
    (name,) = family.variants.values()
    if name not in tables(family):
        raise SchemaError(path, "", "a row is an object with properties")
    return struct_type(StructColumn((name,)), family)


def struct_type(struct: StructColumn, family: Family) -> dict[str, Any]:
    """Return the JSON form of the StructType of definitions, without unnamed properties.

    It is as `row_type` says.
    """
    fields = [field for field in fields_of(struct, family) if field.name != EXTRA]
    return {"type": "struct", "fields": [_field(field, family) for field in fields]}


def _field(field: StructField, family: Family) -> dict[str, Any]:
    metadata = {"comment": field.description}
    if isinstance(field.column, Leaf) and field.column.kind in _JSON_TEXT:
        metadata["contentMediaType"] = "application/json"
    return {
        "name": field.name,
        "type": _type(field.column, family),
        "nullable": True,
        "metadata": metadata,
    }


def _type(column: Column, family: Family) -> Any:
    if isinstance(column, Leaf):
        return _TYPES[column.kind]
    if isinstance(column, ListColumn):
        items = _type(column.items, family)
        return {"type": "array", "elementType": items, "containsNull": True}
    if isinstance(column, MapColumn):
        values = _type(column.values, family)
        return {
            "type": "map",
            "keyType": "string",
            "valueType": values,
            "valueContainsNull": True,
        }
    return struct_type(column, family)
