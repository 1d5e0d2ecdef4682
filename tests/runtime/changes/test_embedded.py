"""Schemas from messages to the columns of rows, in the JSON form of a StructType."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.runtime.changes.lindorm import declared

from changewire.changes import DecodeOptions
from changewire.changes.embedded import row_type

CONNECT = "org.apache.kafka.connect.data."
DEBEZIUM = "io.debezium.time."


def fields_of(schema: Any, format: str, **options: Any) -> list[dict[str, Any]]:
    """Return the columns that a schema declares."""
    fields: list[dict[str, Any]] = row_type(schema, format, DecodeOptions(format, **options))[
        "fields"
    ]
    return fields


def decimal(scale: int) -> dict[str, Any]:
    """Return the type of decimals of Kafka Connect."""
    return {"type": "bytes", "name": f"{CONNECT}Decimal", "parameters": {"scale": str(scale)}}


def logical(kind: str, name: str) -> dict[str, Any]:
    """Return a logical type."""
    return {"type": kind, "name": name}


VARIABLE = {
    "type": "struct",
    "name": "io.debezium.data.VariableScaleDecimal",
    "fields": [{"field": "scale", "type": "int32"}, {"field": "value", "type": "bytes"}],
}
STRUCT = {"type": "struct", "fields": [{"field": "x", "type": "int32"}]}

CONNECT_TYPES = [
    ("boolean", "boolean"),
    ("int8", "byte"),
    ("int16", "short"),
    ("int32", "integer"),
    ("int64", "long"),
    ("float", "double"),
    ("double", "double"),
    ("bytes", "binary"),
    ("string", "string"),
    (decimal(2), "decimal(38,2)"),
    (decimal(38), "decimal(38,38)"),
    (decimal(39), "string"),
    (decimal(-2), "decimal(38,0)"),
    (logical("int32", f"{CONNECT}Date"), "date"),
    (logical("int32", f"{CONNECT}Time"), "string"),
    (logical("int64", f"{CONNECT}Timestamp"), "timestamp"),
    (logical("int64", f"{DEBEZIUM}NanoTimestamp"), "timestamp"),
    (logical("string", f"{DEBEZIUM}ZonedTimestamp"), "timestamp"),
    (logical("string", f"{DEBEZIUM}IsoDate"), "date"),
    (logical("int64", f"{DEBEZIUM}MicroDuration"), "string"),
    (logical("int64", "unheard.of"), "long"),
    (VARIABLE, "string"),
    (
        {"type": "array", "items": {"type": "int32"}},
        {"type": "array", "elementType": "integer", "containsNull": True},
    ),
    (
        {
            "type": "map",
            "keys": logical("string", f"{DEBEZIUM}IsoDate"),
            "values": {"type": "int8"},
        },
        {"type": "map", "keyType": "string", "valueType": "byte", "valueContainsNull": True},
    ),
    (
        {"type": "map", "keys": {"type": "int32"}, "values": {"type": "string"}},
        {"type": "map", "keyType": "integer", "valueType": "string", "valueContainsNull": True},
    ),
]


@pytest.mark.parametrize(("declared_type", "kind"), CONNECT_TYPES)
def test_types_of_kafka_connect(declared_type: Any, kind: Any) -> None:
    """Each type of Kafka Connect has a column that holds what its values become."""
    (column,) = fields_of(declared(c=declared_type), "lindorm-json")
    assert (column["name"], column["type"], column["nullable"]) == ("c", kind, True)


@pytest.mark.parametrize(
    "declared_type",
    [
        {"type": "struct", "fields": []},
        {"type": "array", "items": {"type": "struct", "fields": []}},
        {"type": "map", "keys": STRUCT, "values": {"type": "string"}},
        {"type": "map", "keys": {"type": "double"}, "values": {"type": "string"}},
        {
            "type": "map",
            "keys": logical("int32", f"{CONNECT}Time"),
            "values": {"type": "string"},
        },
    ],
)
def test_what_no_column_holds_is_json_text(declared_type: Any) -> None:
    """A struct without fields, and a map whose keys no column has, are JSON text."""
    (column,) = fields_of(declared(c=declared_type), "lindorm-json")
    assert (column["type"], column["metadata"]["contentMediaType"]) == (
        "string",
        "application/json",
    )


def test_nested_structs_have_fields() -> None:
    """A struct within a row is a struct, and each field has its declared type as comment."""
    (column,) = fields_of(declared(c=STRUCT), "lindorm-json")
    assert [field["name"] for field in column["type"]["fields"]] == ["x"]
    assert column["type"]["fields"][0]["metadata"] == {"comment": "int32"}


def test_columns_of_both_images_are_columns() -> None:
    """What only the row before declares comes after the columns of the row after."""
    schema = declared(a="int8")
    schema["fields"][0]["fields"] = [{"field": "b", "type": "int8"}, {"field": "a", "type": "x"}]
    schema["fields"][0]["fields"][1]["type"] = "string"
    fields = fields_of(schema, "lindorm-json")
    assert [(field["name"], field["type"]) for field in fields] == [("a", "byte"), ("b", "byte")]


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ({}, [("ROW", "string"), ("f_a", "string")]),
        ({"column_families": ["f"]}, [("ROW", "binary"), ("f:a", "binary")]),
        ({"key_columns": ["ROW"]}, [("ROW", "string"), ("f_a", "string")]),
    ],
)
def test_columns_of_hbase_tables_are_bytes(options: Any, columns: Any) -> None:
    """With families a row with the column ROW is one of HBase; else its declared types decide."""
    schema = declared(ROW="string", f_a="string")
    fields = fields_of(schema, "lindorm-json", **options)
    assert [(field["name"], field["type"]) for field in fields] == columns


def test_types_of_dataworks() -> None:
    """Each type of the document has a column; one of any other type is JSON text."""
    types = ("BOOLEAN", "BYTES", "DATE", "DOUBLE", "LONG", "STRING", "GEOMETRY")
    text = json.dumps({"dataColumn": [{"name": kind.lower(), "type": kind} for kind in types]})
    fields = fields_of(text, "dataworks-json")
    kinds = ["boolean", "binary", "timestamp", "double", "long", "string", "string"]
    assert [field["type"] for field in fields] == kinds
    assert fields[0]["metadata"] == {"comment": "BOOLEAN"}
    assert fields[-1]["metadata"]["contentMediaType"] == "application/json"


@pytest.mark.parametrize(
    ("schema", "format", "error"),
    [
        ("{", "dataworks-json", "a schema is JSON text"),
        ({"dataColumn": [{"name": 1}]}, "dataworks-json", "Expected `str`"),
        ({"dataColumn": None}, "dataworks-json", "declares no column"),
        ({"type": "x"}, "lindorm-json", "/type"),
        ({"type": "int8"}, "lindorm-json", "declares no column"),
        ({}, "lindorm-json", "declares no column"),
        (declared(c={**decimal(0), "parameters": {}}), "lindorm-json", "the scale as text"),
        ({}, "aerospike-msgpack", "carry no schema"),
    ],
)
def test_what_declares_no_row_is_refused(schema: Any, format: str, error: str) -> None:
    """A schema that is none of the format, or of no row, is a ValueError."""
    with pytest.raises(ValueError, match=error):
        fields_of(schema, format)
