"""What the schemas in Lindorm messages say of rows: columns, differences, column types."""

from collections.abc import Sequence
from typing import Any, Final

from changewire.changes.connect import (
    Difference,
    columns,
    compile_schema,
    differences,
    struct_type,
)
from changewire.changes.connect.schema import parse_schema
from changewire.changes.hbase import ROW_KEY, column_name
from changewire.changes.lindorm_rows import compiled_schema
from changewire.changes.values import EmbeddedSchema
from changewire_messages import lindorm_json as wire
from changewire_messages.change import Source

_IMAGES: Final = ("after", "before")


def lindorm_schema(message: wire.Message) -> EmbeddedSchema | None:
    """Return the schema that stands in a message; None where the message has none.

    Raises:
        DecodeError: It is none of Kafka Connect.
    """
    compiled = compiled_schema(message)
    if compiled is None:
        return None
    place = message.payload.source
    source = Source(system="lindorm", database=place.namespace, schema=None, table=place.table)
    return EmbeddedSchema(source, compiled.fingerprint, compiled.raw)


def lindorm_columns(schema: Any) -> dict[str, str]:
    """Return the types of a row's columns, those of nested structs too, by JSON Pointer.

    Args:
        schema: The parsed schema of a message.

    Raises:
        SchemaError: It is none of Kafka Connect.
    """
    return columns(_row(schema))


def lindorm_differences(old: Any, new: Any) -> list[Difference]:
    """Return how the rows of two schemas differ.

    Raises:
        SchemaError: One of them is none of Kafka Connect.
    """
    return differences(_row(old), _row(new))


def lindorm_row_type(
    schema: Any, keys: Sequence[str] | None, families: Sequence[str] | None
) -> dict[str, Any]:
    """Return the column type of a row, as ``StructType.fromJson`` takes it.

    In an HBase table, whose row has the column ``ROW``, all columns are binary.

    Args:
        schema: The parsed schema of a message.
        keys: Columns that name the row, as the reader of the messages says.
        families: Column families of an HBase table, likewise.

    Raises:
        SchemaError: It is none of Kafka Connect.
    """
    row = _row(schema)
    compile_schema(row)  # it knows more rules than the nodes do
    node = parse_schema(row)
    parts = node.parts if node else {}
    if ROW_KEY not in parts or (keys is not None and families is None):
        return struct_type(parts)
    names = [column_name(name, families, []) for name in parts]
    return {
        "type": "struct",
        "fields": [
            {"name": name, "type": "binary", "nullable": True, "metadata": {}} for name in names
        ],
    }


def _row(schema: Any) -> Any:
    """Return the schema of the rows: the columns after, then those that only stand before."""
    parse_schema(schema)
    fields = {field["field"]: field for field in (schema or {}).get("fields", ())}
    images = [fields[place] for place in _IMAGES if place in fields]
    found: dict[str, Any] = {}
    for image in images:
        if image["type"] == "struct":
            for field in image["fields"]:
                found.setdefault(field["field"], field)
    return {"type": "struct", "fields": list(found.values())}
