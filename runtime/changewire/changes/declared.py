"""The types that a message itself declares for the columns of its rows."""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from changewire.changes.connect import SchemaError, ValueMismatch, compile_schema
from changewire.changes.connect.schema import parse_schema
from changewire.changes.values import MismatchError
from changewire_messages.support import pointer_token

_IMAGES: Final = ("before", "after")


class Declared(NamedTuple):
    """A column with its declared type.

    Attributes:
        pointer: JSON Pointer to the value in the message.
        type: Name of the type, as the message says it.
        value: The value read by this type; as it stands in the message where it contradicts it.
    """

    pointer: str
    type: str
    value: Any


def declared(message: Any, format: str) -> Iterator[Declared]:
    """Yield the columns for which a message declares a type.

    Args:
        message: A message in which `validate` finds no issue, as dictionaries and lists.
        format: Name of its format; most declare no types.
    """
    columns = _BY_FORMAT.get(format)
    if columns is not None:
        yield from columns(message)


def _dataworks(message: Any) -> Iterator[Declared]:
    from changewire.changes.columns import COLUMN_TYPES, unknown_type

    types = {column["name"]: column["type"] for column in message["schema"].get("dataColumn") or ()}
    for place in _IMAGES:
        image = message["payload"].get(place)
        # An operation that nobody knows may hold anything here.
        row = image.get("dataColumn") if isinstance(image, dict) else None
        for name, value in row.items() if isinstance(row, dict) else ():
            if name not in types:
                continue
            read = COLUMN_TYPES.get(types[name], unknown_type)
            pointer = f"/payload/{place}/dataColumn/{pointer_token(name)}"
            try:
                typed = None if value is None else read(value, [])
            except MismatchError:
                typed = value
            yield Declared(pointer, types[name], typed)


def _lindorm(message: Any) -> Iterator[Declared]:
    schema = message.get("schema")
    try:
        node, reader = parse_schema(schema), compile_schema(schema, replace_null_with_default=False)
    except SchemaError:
        return
    for place in _IMAGES:
        row = message["payload"].get(place) or {}
        if node is None or reader is None or place not in reader.fields:
            yield from _cells(row, place)
            continue
        columns, readers = node.parts[place].parts, reader.fields[place].fields
        for name in row.keys() & readers.keys():
            pointer = f"/payload/{place}/{pointer_token(name)}"
            try:
                typed = readers[name].read(row[name], pointer)
            except ValueMismatch:
                typed = row[name]
            yield Declared(pointer, columns[name].name or columns[name].type, typed)


def _cells(row: Mapping[str, Any], place: str) -> Iterator[Declared]:
    """Yield the columns of an HBase table: bytes, which nothing in the message declares."""
    from changewire.changes.hbase import ROW_KEY

    if ROW_KEY not in row:
        return
    for name, value in row.items():
        try:
            typed = b64decode(value, validate=True)
        except (TypeError, ValueError):  # null, or no Base64 text, which becomes an issue
            typed = value
        yield Declared(f"/payload/{place}/{pointer_token(name)}", "bytes", typed)


_Columns: TypeAlias = Callable[[Any], Iterator[Declared]]
_BY_FORMAT: Final[Mapping[str, _Columns]] = {
    "dataworks-json": _dataworks,
    "lindorm-json": _lindorm,
}
