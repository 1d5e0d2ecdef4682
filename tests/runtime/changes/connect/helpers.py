"""What the tests of Kafka Connect schemas share."""

from typing import Any

from changewire.changes.connect import reads
from changewire.changes.connect.reader import Reader, compile_schema
from changewire.changes.connect.reads import Note

CONNECT = "org.apache.kafka.connect.data."
TIME = "io.debezium.time."
DATA = "io.debezium.data."

NOTES = {kind for name, kind in vars(reads).items() if name.isupper() and isinstance(kind, str)}
"""Every kind of note; those that are leniencies have their meanings in `LENIENCIES`."""

Json = Any


def field(name: str, type_: str, /, **more: Json) -> Json:
    """Return a field of a struct."""
    return {"field": name, "type": type_, **more}


def struct(*fields: Json, **more: Json) -> Json:
    """Return a struct."""
    return {"type": "struct", "fields": list(fields), **more}


def logical(type_: str, name: str, /, **more: Json) -> Json:
    """Return a logical type."""
    return {"type": type_, "name": name, **more}


def compiled(schema: Json, **options: Any) -> Reader:
    """Return the reader of a schema that says something."""
    reader = compile_schema(schema, **options)
    assert reader is not None
    return reader


def read(schema: Json, value: Json, **options: Any) -> Any:
    """Return the typed value."""
    return compiled(schema).read(value, "/payload", **options)


def read_with_notes(schema: Json, value: Json, **options: Any) -> tuple[Any, list[tuple[str, str]]]:
    """Return the typed value, and kind and pointer of what was noted."""
    notes: list[Note] = []
    found = compiled(schema, **options).read(value, "/payload", notes=notes)
    return found, [(note.kind, note.pointer) for note in notes]
