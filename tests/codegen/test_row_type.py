"""Row schemas to column types, as StructType's JSON form has them."""

from __future__ import annotations

from typing import Any

import pytest

from changewire_codegen.errors import SchemaError
from changewire_codegen.row_type import row_type


def row_schema(**properties: Any) -> dict[str, Any]:
    """Return the schema of rows with some columns."""
    described = {name: {"description": f"The {name}.", **p} for name, p in properties.items()}
    return {
        "title": "User",
        "description": "A user.",
        "type": "object",
        "properties": described,
        "required": list(properties)[:1],
        "$defs": {
            "Address": {
                "title": "Address",
                "description": "Where.",
                "type": "object",
                "properties": {
                    "city": {"description": "City.", "type": "string"},
                    "next": {"description": "Another.", "$ref": "#/$defs/Address"},
                },
            }
        },
        "examples": [{}],
    }


def field(name: str, kind: object, *, json: bool = False) -> dict[str, Any]:
    """Return a column of `row_schema`."""
    metadata = {"comment": f"The {name}."}
    if json:
        metadata["contentMediaType"] = "application/json"
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


LIST = {"type": "array", "elementType": "string", "containsNull": True}
MAP = {"type": "map", "keyType": "string", "valueType": "double", "valueContainsNull": True}


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        ({"type": "boolean"}, "boolean"),
        ({"type": "integer"}, "long"),
        ({"type": "integer", "format": "int32"}, "integer"),
        ({"type": "number"}, "double"),
        ({"type": ["string", "null"]}, "string"),
        ({"enum": ["a", "b"]}, "string"),
        ({"type": "string", "contentEncoding": "base64"}, "binary"),
        ({"type": "string", "format": "date-time"}, "timestamp"),
        ({"type": "array", "items": {"type": "string"}}, LIST),
        ({"type": "object", "additionalProperties": {"type": "number"}}, MAP),
    ],
)
def test_each_type_has_its_column(node: dict[str, Any], kind: object) -> None:
    """A column has the type that the table of the dialect gives it, and may always be NULL."""
    assert row_type(row_schema(c=node)) == {"type": "struct", "fields": [field("c", kind)]}


@pytest.mark.parametrize("node", [{}, {"type": ["string", "integer"]}])
def test_any_value_is_json_text(node: dict[str, Any]) -> None:
    """Where a column type ends, JSON text begins, and the field says so."""
    assert row_type(row_schema(c=node))["fields"] == [field("c", "string", json=True)]


def test_objects_are_structs() -> None:
    """A nested object is a struct; one that holds itself is JSON text from there on."""
    (column,) = row_type(row_schema(c={"$ref": "#/$defs/Address"}))["fields"]
    assert column["type"] == "string"
    schema = row_schema(c={"$ref": "#/$defs/Address"})
    del schema["$defs"]["Address"]["properties"]["next"]
    (column,) = row_type(schema)["fields"]
    assert [inner["name"] for inner in column["type"]["fields"]] == ["city"]
    assert column["type"]["fields"][0]["metadata"] == {"comment": "City."}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"type": "array"}, "rows/row.json#/properties: the keyword 'properties' has no meaning"),
        ({"allOf": []}, "rows/row.json#: the dialect has no keyword 'allOf' here"),
        ({"properties": {"c": {"description": "C.", "$ref": "other.json"}}}, "leads nowhere"),
    ],
)
def test_what_is_no_row_schema_is_refused(change: dict[str, Any], error: str) -> None:
    """A schema outside the dialect is refused with its place."""
    with pytest.raises(SchemaError, match=error):
        row_type({**row_schema(c={"type": "string"}), **change})


def test_a_scalar_is_no_row() -> None:
    """A row has columns."""
    schema = {"title": "N", "description": "A number.", "type": "integer", "examples": [1]}
    with pytest.raises(SchemaError, match="a row is an object with properties"):
        row_type(schema)
