"""What the schemas in Lindorm messages say of rows: columns, differences, column types."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from changewire.changes.adapters import Dialect
from changewire.changes.change_table import source_of
from changewire.changes.connect.differences import Difference, columns, differences
from changewire.changes.connect.reader import compile_schema
from changewire.changes.connect.row_type import struct_type
from changewire.changes.connect.schema import ConnectSchemaError, ValueMismatch, parse_schema
from changewire.changes.contradictions import undeclared_columns
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.lindorm_rows import ROW_KEY, column_name, compiled_schema
from changewire.changes.values import Declared, EmbeddedSchema, base64_bytes
from changewire.codec import DecodeError, Issue
from changewire_messages import lindorm_json as wire
from changewire_messages.lindorm_json import changes as table
from changewire_messages.support import pointer_token

_IMAGES: Final = ("after", "before")


def lindorm_schema(message: wire.Message) -> EmbeddedSchema | None:
    """Return the schema that is in a message; None if the message has none."""
    compiled = compiled_schema(message)
    if compiled is None:
        return None
    return EmbeddedSchema(
        source_of(table.SYSTEM, *table.source(message)), compiled.fingerprint, compiled.text
    )


def lindorm_columns(schema: Any) -> dict[str, str]:
    """Return the types of a row's columns, those of nested structs too, by JSON Pointer."""
    return columns(_row(schema))


def lindorm_differences(old: Any, new: Any) -> list[Difference]:
    """Return how the rows of two schemas of Kafka Connect differ."""
    return differences(_row(old), _row(new))


def lindorm_row_type(schema: Any, options: DecodeOptions) -> dict[str, Any]:
    """Return the column type of a row, as ``StructType.fromJson`` takes it."""
    families = options.vendor["column_families"]
    row = _row(schema)
    compile_schema(row)  # it knows more rules than the nodes do
    node = parse_schema(row)
    parts = node.parts if node else {}
    if ROW_KEY not in parts or families is None:
        return struct_type(parts)
    names = [column_name(name, families, []) for name in parts]
    return {
        "type": "struct",
        "fields": [
            {"name": name, "type": "binary", "nullable": True, "metadata": {}} for name in names
        ],
    }


def _row(schema: Any) -> Any:
    """Return the schema of the rows: the columns after, then those that are only before."""
    parse_schema(schema)
    fields = {field["field"]: field for field in (schema or {}).get("fields", ())}
    images = [fields[place] for place in _IMAGES if place in fields]
    found: dict[str, Any] = {}
    for image in images:
        if image["type"] == "struct":
            for field in image["fields"]:
                found.setdefault(field["field"], field)
    return {"type": "struct", "fields": list(found.values())}


def lindorm_declared(message: Any) -> Iterator[Declared]:
    """Yield the columns for which a message, as dictionaries and lists, declares a type."""
    at, payload = ("/payload", message["payload"]) if "payload" in message else ("", message)
    schema = message.get("schema")
    try:
        node, reader = parse_schema(schema), compile_schema(schema, replace_null_with_default=False)
    except ConnectSchemaError:
        return
    for place in reversed(_IMAGES):
        row = payload.get(place) or {}
        if node is None or reader is None or place not in reader.fields:
            yield from _cells(row, f"{at}/{place}")
            continue
        columns, readers = node.parts[place].parts, reader.fields[place].fields
        for name in row.keys() & readers.keys():
            pointer = f"{at}/{place}/{pointer_token(name)}"
            try:
                typed = readers[name].read(row[name], pointer)
            except ValueMismatch:
                typed = row[name]
            yield Declared(pointer, columns[name].name or columns[name].type, typed)


def lindorm_undeclared(message: wire.Message) -> Iterator[Issue]:
    """Yield the columns of rows that the schema in a message does not declare."""
    try:
        compiled = compiled_schema(message)
    except DecodeError:  # it contradicts itself, which is reported as such
        return
    readers = compiled.reader.fields if compiled and compiled.reader else {}
    for place in reversed(_IMAGES):
        row = getattr(message.payload, place, None)
        if row and place in readers:
            yield from undeclared_columns(row, readers[place].fields, f"/payload/{place}")


def _cells(row: Mapping[str, Any], at: str) -> Iterator[Declared]:
    """Yield the columns of an HBase table: their values are bytes, though no schema says so."""
    if ROW_KEY not in row:
        return
    for name, value in row.items():
        # Null stays, and so does what is no Base64 text, which becomes an issue.
        typed = base64_bytes(value) if type(value) is str else None
        pointer = f"{at}/{pointer_token(name)}"
        yield Declared(pointer, "bytes", value if typed is None else typed)


DIALECT: Final = Dialect(lindorm_schema, lindorm_columns, lindorm_differences, lindorm_row_type)
