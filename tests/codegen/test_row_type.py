"""Row schemas to column types, as StructType's JSON form has them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from changewire_codegen.errors import RowSchemaError
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


def test_a_schema_needs_nothing_but_properties() -> None:
    """Titles, descriptions and examples are left out, and what makes no type is passed over."""
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/user",
        "definitions": {
            "user": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id"],
                "properties": {
                    "id": {"type": "integer", "minimum": 1},
                    "price": {"type": ["number", "null"], "multipleOf": 0.01},
                    "day": {"type": "string", "format": "date"},
                    "mail": {"type": "string", "format": "email"},
                    "home": {"anyOf": [{"$ref": "#/definitions/place"}, {"type": "null"}]},
                },
            },
            "place": {"properties": {"city": {"type": "string"}}},
        },
    }
    unused: dict[str, str] = {}
    found = {one["name"]: one for one in row_type(schema, "user.json", unused)["fields"]}
    home = found.pop("home")["type"]["fields"]
    kinds = {"id": "long", "price": "double", "day": "date", "mail": "string"}
    assert {name: one["type"] for name, one in found.items()} == kinds
    assert home == [{"name": "city", "type": "string", "nullable": True, "metadata": {}}]
    at = "/definitions/user"
    assert unused == {
        "additionalProperties": at,
        "minimum": f"{at}/properties/id",
        "multipleOf": f"{at}/properties/price",
        "format": f"{at}/properties/mail",
    }


CITY = {"properties": {"city": {"type": "string"}}}
CODE = {"properties": {"city": {"type": "integer"}, "code": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        ({"oneOf": [CITY, CODE]}, {"city": "string", "code": "long"}),
        ({"allOf": [CODE]}, {"city": "long", "code": "long"}),
        ({"allOf": [CITY], "properties": {"x": {"type": "number"}}}, {"x": "double"}),
        ({"anyOf": [{"required": ["city"]}], **CITY}, {"city": "string"}),
        ({"oneOf": [CITY, {"type": "string"}]}, None),
        ({"enum": [1, None]}, "long"),
        ({"const": "a"}, "string"),
        ({"enum": ["a", 1]}, None),
        (True, None),
    ],
)
def test_joined_schemas(node: Any, kind: Any) -> None:
    """Objects become one struct; types that differ, and any value, are JSON text."""
    (column,) = row_type({"properties": {"c": node}})["fields"]
    if isinstance(kind, dict):
        found = {one["name"]: one["type"] for one in column["type"]["fields"]}
        assert found.items() >= kind.items()
    else:
        assert column["type"] == (kind or "string")
    assert ("contentMediaType" in column["metadata"]) == (kind is None)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"type": "array"}, "user.json#: a row is an object with properties"),
        ({"properties": {}}, "user.json#/properties: an object with at least one property"),
        (
            {"properties": {"c": {"$ref": "other.json"}}},
            "user.json#/properties/c/$ref: 'other.json'",
        ),
        ({"properties": {"c": {"anyOf": 1}}}, "user.json#/properties/c/anyOf: an array of schemas"),
    ],
)
def test_what_is_no_row_schema_is_refused(change: dict[str, Any], error: str) -> None:
    """A schema without columns is refused with its place, under the name of its file."""
    with pytest.raises(RowSchemaError, match=re.escape(error)):
        row_type({**row_schema(c={"type": "string"}), **change}, "user.json")


def test_all_problems_are_named_at_once() -> None:
    """Each is a line with the place."""
    wrong = {"a": {"type": "int"}, "b/c": {"$ref": "#/$defs/B"}, "d": {"items": 3}}
    with pytest.raises(RowSchemaError) as caught:
        row_type({"properties": wrong}, "user.json")
    places = [line.partition(": ")[0] for line in str(caught.value).splitlines()]
    at = "user.json#/properties"
    assert places == [f"{at}/a/type", f"{at}/b~1c/$ref", f"{at}/d/items"]
