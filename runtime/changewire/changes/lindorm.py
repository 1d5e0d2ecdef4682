"""Lindorm messages to changes: rows read by the schema beside them, and cells of HBase tables."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import UNSET

from changewire.changes.connect import (
    Compiled,
    Note,
    Reader,
    SchemaCache,
    SchemaError,
    ValueMismatch,
)
from changewire.changes.hbase import ROW_KEY, cells
from changewire.changes.values import from_milliseconds, key_of
from changewire.codec import DecodeError, Issue
from changewire.codec.exact import exact_number
from changewire.codec.wire import PARSER_ERRORS
from changewire_messages import lindorm_json as wire
from changewire_messages.change import Change, Source
from changewire_messages.change import Sequence as Order
from changewire_messages.support import pointer_token

Row = dict[str, Any]


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    """A record key of Kafka's JsonConverter, which has its own schema."""

    schema: msgspec.Raw
    payload: msgspec.Raw


_OPS: Final[Mapping[type, Any]] = {
    wire.Insert: "insert",
    wire.Update: "update",
    wire.Delete: "delete",
    wire.Read: "read",
}
_CODE: Final = "contradicts-schema"
_ENVELOPE: Final = msgspec.json.Decoder(_Envelope).decode
_PARSE: Final = msgspec.json.Decoder(float_hook=exact_number).decode

# A database means null by null, so it does not become the default of its column.
_SCHEMAS: Final = SchemaCache(replace_null_with_default=False)
_KEY_SCHEMAS: Final = SchemaCache(replace_null_with_default=False)


def lindorm_changes(
    message: wire.Message,
    record_key: bytes | None,
    keys: Sequence[str] | None,
    image: str,
    families: Sequence[str] | None,
) -> list[Change]:
    """Return the one change that a message is.

    The row is named by `keys`; without them, by the row key of an HBase table, or by the record key
    where it is a JSON object. Values of HBase tables are bytes.

    Args:
        message: The message.
        record_key: Key of the Kafka record.
        keys: Columns that name the row.
        image: What `after` holds of the row.
        families: Column families, to take names of HBase columns apart: ``f_name`` to ``f:name``.

    Raises:
        DecodeError: Values contradict their declared types, a value of an HBase table is no Base64
            text, or the schema is none of Kafka Connect.
    """
    payload, used = message.payload, list[str]()
    op, source = _OPS[type(payload)], payload.source
    compiled = compiled_schema(message)
    issues: list[Issue] = []
    before = _row(payload.before, "before", compiled, used, issues)
    after = None if op == "delete" else _row(payload.after, "after", compiled, used, issues)
    if issues:
        raise DecodeError(wire.FORMAT, issues)
    named = _record_key(record_key, compiled)
    if _is_hbase(before, after, named) and (keys is None or families is not None):
        keys = keys or (ROW_KEY,)
        before = _cells(before, "/payload/before", families, used)
        after = _cells(after, "/payload/after", families, used)
        named = _cells(named, "", None, used)
    key, before_key = _keys(op, before, after, named, keys)
    return [
        Change(
            op=op,
            source=_source(source.namespace, source.table),
            key=key,
            before_key=before_key,
            before=before,
            after=after,
            event_time=from_milliseconds(source.ts_ms),
            sequence=Order(major=source.ts_ms, minor=0),
            ddl=None,
            schema_fingerprint=None if compiled is None else compiled.fingerprint,
            attributes=_attributes(message, image, used),
        )
    ]


def compiled_schema(message: wire.Message) -> Compiled | None:
    """Return the schema of a message, compiled; None where the message has none.

    Raises:
        DecodeError: It is none of Kafka Connect.
    """
    if message.schema_text is UNSET:
        return None
    try:
        return _compiled_text(message.schema_text, _SCHEMAS)
    except SchemaError as error:
        issue = Issue(
            f"/schema{error.pointer}", "invalid-schema", "schema", error.expected, error.actual
        )
        raise DecodeError(wire.FORMAT, [issue]) from None


def _compiled_text(text: msgspec.Raw, schemas: SchemaCache) -> Compiled | None:
    """Return a schema, compiled; None where it says nothing.

    Raises:
        SchemaError: It is none of Kafka Connect.
    """
    compiled = schemas.get(text)
    return compiled if compiled.reader else None


def _row(
    image: Any, place: str, compiled: Compiled | None, used: list[str], issues: list[Issue]
) -> Row | None:
    """Return a row with values of the types that its schema declares; a column may be absent."""
    if image is None or image is UNSET:
        return None
    reader = _reader(compiled, place)
    if reader is None:
        row: Row = image
        return row
    notes: list[Note] = []
    try:
        row = reader.read(image, f"/payload/{place}", partial=True, notes=notes)
    except ValueMismatch as error:
        issues += map(_issue, list(_mismatches(image, place, reader)) or [error])
        return None
    if type(row) is not dict:  # a logical type that is no row, on the whole of it
        expected = "a row, but /schema declares a value"
        issues.append(Issue(f"/payload/{place}", _CODE, "connect", expected, image))
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


def _cells(
    row: Row | None, pointer: str, families: Sequence[str] | None, used: list[str]
) -> Row | None:
    return None if row is None else cells(row, pointer, families, used, format=wire.FORMAT)


def _reader(compiled: Compiled | None, place: str) -> Reader | None:
    return compiled.reader.fields.get(place) if compiled and compiled.reader else None


def _is_hbase(before: Row | None, after: Row | None, named: Row | None) -> bool:
    return bool(
        (after and ROW_KEY in after)
        or (before and ROW_KEY in before)
        or (named and ROW_KEY in named)
    )


def _keys(
    op: str,
    before: Row | None,
    after: Row | None,
    named: Row | None,
    keys: Sequence[str] | None,
) -> tuple[Row | None, Row | None]:
    """Return the key of a row, and the one before an update that moved the row to another."""
    names = tuple(named or ()) if keys is None else keys
    if not names:
        return None, None
    key = key_of(after, names) if after else None
    if key is None:
        # A subscription may leave out what did not change, so the key need not be in one place.
        key = key_of({**(before or {}), **(named or {}), **(after or {})}, names)
    before_key = key_of(before, names) if before and key and op == "update" else None
    return key, None if before_key == key else before_key


@lru_cache(maxsize=256)
def _source(namespace: str, table: str) -> Source:
    """Return the place of a row; most messages of a topic come from few of them."""
    return Source(system="lindorm", database=namespace, schema=None, table=table)


def _record_key(data: bytes | None, compiled: Compiled | None) -> Row | None:
    """Return the columns of a record key that is a JSON object, or whose payload is one.

    They have the types of the key's own schema; without one those of the row, so that the key of a
    row is the same in messages with and without images. What does not fit them stays as it is.
    """
    if not data:
        return None
    try:
        own, payload = _opened(data)
        found = _PARSE(payload)
    except PARSER_ERRORS:
        return None
    if not isinstance(found, dict):
        return None
    reader = own or _reader(compiled, "after") or _reader(compiled, "before")
    try:
        typed = reader.read(found, "", partial=True) if reader else found
    except ValueMismatch:
        return found
    return typed if isinstance(typed, dict) else found


def _opened(data: bytes) -> tuple[Reader | None, Any]:
    """Return the reader of a record key's own schema, None where it has none, and its payload."""
    try:
        envelope = _ENVELOPE(data)
    except PARSER_ERRORS:  # it is the payload alone, or no JSON
        return None, data
    try:
        compiled = _compiled_text(envelope.schema, _KEY_SCHEMAS)
    except SchemaError:
        return None, envelope.payload
    return compiled.reader if compiled else None, envelope.payload


def _attributes(message: wire.Message, image: str, used: list[str]) -> dict[str, Any]:
    """Return what only this format has; what a message lacks is absent."""
    payload, source = message.payload, message.payload.source
    found: dict[str, Any] = {"op": payload.op, "ts_ms": payload.ts_ms, "image": image}
    if source.db is not UNSET:
        found["db"] = source.db
    if source.version is not UNSET:
        found["version"] = source.version
    if used:
        found["leniencies"] = used
    if message.extra is not UNSET:
        found["extra"] = dict(message.extra)
    return found
