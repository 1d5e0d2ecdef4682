"""Rows of Lindorm messages and their record keys: read by their schemas, or as cells of HBase."""

from collections.abc import Container, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from changewire.changes.connect.reader import Reader, compile_schema
from changewire.changes.connect.reads import Note
from changewire.changes.connect.schema import ConnectSchemaError, ValueMismatch
from changewire.changes.values import base64_bytes, fingerprint
from changewire.codec import DecodeError, Issue
from changewire.codec.msgpack_values import pointer_of
from changewire.codec.places import place_in
from changewire.codec.wire import PARSER_ERRORS
from changewire_messages import lindorm_json as wire
from changewire_messages.hooks import exact_number
from changewire_messages.support import by_text, pointer_token

ROW_KEY: Final = "ROW"
"""Column of an HBase table that has the row key; a table of SQL may have one of this name."""

NO_READERS: Final[Mapping[str, Reader]] = MappingProxyType({})
"""Of a row for which no schema declares a column."""

Row = dict[str, Any]


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    """A record key of Kafka's JsonConverter, which has its own schema."""

    schema: msgspec.Raw
    payload: msgspec.Raw


_CODE: Final = "contradicts-schema"
_POINTERS: Final = {"before": "/payload/before", "after": "/payload/after"}
"""Places of the rows of a message that has a schema."""

_ENVELOPE: Final = msgspec.json.Decoder(_Envelope).decode
_PARSE: Final = msgspec.json.Decoder(float_hook=exact_number).decode

_SCHEMA: Final = msgspec.json.Decoder(float_hook=Decimal).decode


class Compiled(NamedTuple):
    """A schema, ready for use; without a reader if it says nothing."""

    text: bytes
    fingerprint: str
    reader: Reader | None


def compiled_text(text: bytes) -> Compiled:
    """Return the compiled schema of JSON text."""
    try:
        schema = _SCHEMA(text)
    except (*PARSER_ERRORS, ArithmeticError):  # Decimal raises it for 1e99999999999999999999
        raise ConnectSchemaError("", "JSON text") from None
    # A database means null by null, so it does not become the default of its column.
    reader = compile_schema(schema, replace_null_with_default=False)
    return Compiled(text, fingerprint(text), reader)


_compiled: Final = by_text(compiled_text)


def compiled_schema(message: wire.Message) -> Compiled | None:
    """Return the schema of a message, compiled; None if it has none, or one that says nothing."""
    if message.schema_text is UNSET:
        return None
    try:
        compiled = _compiled(message.schema_text)
    except ConnectSchemaError as error:
        issue = Issue(
            f"/schema{error.pointer}", "invalid-schema", "schema", error.expected, error.actual
        )
        raise DecodeError(wire.FORMAT, [issue]) from None
    return compiled if compiled.reader else None


def place_of(message: wire.Message, row: str) -> str:
    """Return the JSON Pointer to a row of a message: ``before`` or ``after``."""
    return pointer_of(place_in(message, "payload", row))


def typed_row(
    image: Row | None, place: str, compiled: Compiled, used: list[str], issues: list[Issue]
) -> Row | None:
    """Return a row with values of the types that its schema declares; a column may be absent."""
    reader = _row_reader(compiled, place)
    if image is None or reader is None:
        return image
    notes: list[Note] = []
    try:
        row = reader.read(image, _POINTERS[place], partial=True, notes=notes)
    except ValueMismatch as error:
        issues += map(_issue, list(_mismatches(image, place, reader)) or [error])
        return None
    if type(row) is not dict:  # a logical type that is no row, on the whole of it
        expected = "a row, but /schema declares a value"
        issues.append(Issue(_POINTERS[place], _CODE, "connect", expected, image))
        return None
    if notes:
        used.extend(note.kind for note in notes)
    return row


def _mismatches(image: Row, place: str, reader: Reader) -> Iterator[ValueMismatch]:
    """Yield what is wrong with each column: a reader of rows stops at the first."""
    for name in filter(reader.fields.__contains__, image):
        try:
            at = f"/payload/{place}/{pointer_token(name)}"
            reader.fields[name].read(image[name], at, partial=True)
        except ValueMismatch as error:  # noqa: PERF203 - that is what is looked for
            yield error


def _issue(error: ValueMismatch) -> Issue:
    expected = f"{error.expected}, as /schema{error.schema_pointer} says"
    return Issue(error.pointer, _CODE, error.rule, expected, error.actual)


def _row_reader(compiled: Compiled | None, place: str) -> Reader | None:
    return compiled.reader.fields.get(place) if compiled and compiled.reader else None


def readers_of(compiled: Compiled | None, place: str) -> Mapping[str, Reader]:
    """Return the reader of each column that a schema declares for the row at a place."""
    reader = _row_reader(compiled, place)
    return reader.fields if reader else NO_READERS


class RecordKey(NamedTuple):
    """The columns of a record key, and the reader of each column that a schema declares."""

    columns: Row | None
    readers: Mapping[str, Reader]


def record_columns(data: bytes | None, compiled: Compiled | None) -> RecordKey:
    """Return the columns of a record key that is a JSON object, or whose payload is one.

    They have the types of the key's own schema; without one those of the row, so that the key of a
    row is the same in messages with and without images. What does not fit them stays as it is.
    """
    try:
        own, payload = _opened(data) if data else (None, b"")
        found = _PARSE(payload)
    except PARSER_ERRORS:
        return RecordKey(None, NO_READERS)
    if not isinstance(found, dict):
        return RecordKey(None, NO_READERS)
    reader = own or _row_reader(compiled, "after") or _row_reader(compiled, "before")
    if reader is None:
        return RecordKey(found, NO_READERS)
    try:
        typed = reader.read(found, "", partial=True)
    except ValueMismatch:
        return RecordKey(found, NO_READERS)
    return RecordKey(typed, reader.fields) if type(typed) is dict else RecordKey(found, NO_READERS)


def _opened(data: bytes) -> tuple[Reader | None, Any]:
    """Return the reader of a record key's own schema, None if it has none, and its payload."""
    try:
        envelope = _ENVELOPE(data)
    except PARSER_ERRORS:  # it is the payload alone, or no JSON
        return None, data
    try:
        return _compiled(envelope.schema).reader, envelope.payload
    except ConnectSchemaError:
        return None, envelope.payload


def cells(
    row: Row | None,
    pointer: str,
    families: Sequence[str] | None,
    used: list[str],
    declared: Container[str] = (),
) -> Row | None:
    """Return the columns of an HBase row as bytes, under the names that HBase gives them."""
    if row is None:
        return None
    found: Row = {}
    issues: list[Issue] = []
    for name, value in row.items():
        column, place = column_name(name, families, used), f"{pointer}/{pointer_token(name)}"
        if column in found:
            expected = "a name that no other column has"
            issues.append(Issue(place, "duplicate-column", "hbase", expected, name))
        is_base64 = type(value) is str and name not in declared
        found[column] = base64_bytes(value) if is_base64 else value
        if found[column] is None and value is not None:
            issues.append(Issue(place, "invalid-base64", "hbase", "Base64 text", value))
    if issues:
        raise DecodeError(wire.FORMAT, issues)
    return found


def column_name(name: str, families: Sequence[str] | None, used: list[str]) -> str:
    """Return ``family:qualifier`` if the family is known; `used` is that of `cells`."""
    if families is None or name == ROW_KEY:
        return name
    fits = [family for family in families if name.startswith(f"{family}_")]
    if not fits:
        used.append("unknown-family")
        return name
    family = max(fits, key=len)
    return f"{family}:{name[len(family) + 1 :]}"
