"""What the schemas in DataWorks messages say of rows: columns, differences, column types."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from changewire.changes.adapters import Dialect
from changewire.changes.connect.differences import Difference
from changewire.changes.contradictions import undeclared_columns
from changewire.changes.dataworks_rows import COLUMN_TYPES, table_of, unknown_type
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.values import Declared, EmbeddedSchema, MismatchError
from changewire.codec import Issue
from changewire_messages import dataworks_json as wire
from changewire_messages.dataworks_json import values
from changewire_messages.support import pointer_token

_IMAGES: Final = ("before", "after")

_COLUMN_TYPES: Final[Mapping[str, str]] = {
    known.value: known.column for known in values.COLUMN_TYPE_TYPE
}
"""Column type of each type that the format document names."""


def dataworks_schema(message: wire.Message) -> EmbeddedSchema | None:
    """Return the schema that is in a message; None if it declares no column."""
    if not message.schema.data_column:
        return None
    table = table_of(message.schema_text)
    return EmbeddedSchema(table.source, table.fingerprint, bytes(message.schema_text))


def dataworks_columns(schema: Any) -> dict[str, str]:
    """Return the declared types of a row's columns, by JSON Pointer into the row."""
    return {f"/{pointer_token(name)}": kind for name, kind in _declared(schema).items()}


def dataworks_differences(old: Any, new: Any) -> list[Difference]:
    """Return how the rows of two schemas differ: what the old one has, then what is new."""
    before, after = dataworks_columns(old), dataworks_columns(new)
    found = [
        Difference(path, "type-changed" if path in after else "removed", kind, after.get(path))
        for path, kind in before.items()
        if after.get(path) != kind
    ]
    added = [path for path in after if path not in before]
    return [*found, *(Difference(path, "added", None, after[path]) for path in added)]


def dataworks_row_type(schema: Any, _options: DecodeOptions) -> dict[str, Any]:
    """Return the column type of a row, as ``StructType.fromJson`` takes it."""
    return {
        "type": "struct",
        "fields": [_field(name, kind) for name, kind in _declared(schema).items()],
    }


def _field(name: str, kind: str) -> dict[str, Any]:
    metadata = {"comment": kind}
    if kind not in _COLUMN_TYPES:
        metadata["contentMediaType"] = "application/json"
    column_type = _COLUMN_TYPES.get(kind, "string")
    return {"name": name, "type": column_type, "nullable": True, "metadata": metadata}


def _declared(schema: Any) -> dict[str, str]:
    """Return the type of each column; of two columns of one name the last counts."""
    found = msgspec.convert(schema, wire.DataSchema)  # its error is a ValueError
    return {column.name: column.type for column in found.data_column or ()}


def dataworks_declared(message: Any) -> Iterator[Declared]:
    """Yield the columns for which a message, as dictionaries and lists, declares a type."""
    types = {column["name"]: column["type"] for column in message["schema"].get("dataColumn") or ()}
    for place in _IMAGES:
        image = message["payload"].get(place)
        # An unknown operation may hold anything here.
        row = image.get("dataColumn") if isinstance(image, dict) else None
        for name, value in row.items() if isinstance(row, dict) else ():
            if name not in types:
                continue
            reader = COLUMN_TYPES.get(types[name], unknown_type)
            pointer = f"/payload/{place}/dataColumn/{pointer_token(name)}"
            try:
                typed = None if value is None else reader(value, [])
            except MismatchError:
                typed = value
            yield Declared(pointer, types[name], typed)


def dataworks_undeclared(message: wire.Message) -> Iterator[Issue]:
    """Yield the columns of the key and of rows that the schema in a message does not declare."""
    declared = {column.name for column in message.schema.data_column or ()}
    key = message.schema.primary_key or ()
    yield from undeclared_columns(key, declared, "/schema/primaryKey", is_list=True)
    for place in _IMAGES:
        image = getattr(message.payload, place)
        if image:
            pointer = f"/payload/{place}/dataColumn"
            yield from undeclared_columns(image.data_column, declared, pointer)


DIALECT: Final = Dialect(
    dataworks_schema, dataworks_columns, dataworks_differences, dataworks_row_type
)
