"""Lindorm messages to changes: rows read by the schema beside them, and cells of HBase tables."""

from collections.abc import Mapping, Sequence
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

Row = dict[str, Any]

_OPS: Final[Mapping[type, Any]] = {
    wire.Insert: "insert",
    wire.Update: "update",
    wire.Delete: "delete",
    wire.Read: "read",
}
_PARSE: Final = msgspec.json.Decoder(float_hook=exact_number).decode

# A database means null by null, so it does not become the default of its column.
_SCHEMAS: Final = SchemaCache(replace_null_with_default=False)


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
        DecodeError: A value contradicts its declared type, a value of an HBase table is no Base64
            text, or the schema is none of Kafka Connect.
    """
    payload, used = message.payload, list[str]()
    op, source = _OPS[type(payload)], payload.source
    compiled = compiled_schema(message)
    before = _row(payload.before, "before", compiled, used)
    after = None if op == "delete" else _row(payload.after, "after", compiled, used)
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
        compiled = _SCHEMAS.get(message.schema_text)
    except SchemaError as error:
        issue = Issue(
            f"/schema{error.pointer}", "invalid-schema", "schema", error.expected, error.actual
        )
        raise DecodeError(wire.FORMAT, [issue]) from None
    return compiled if compiled.reader else None


def _row(image: Any, place: str, compiled: Compiled | None, used: list[str]) -> Row | None:
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
        expected = f"{error.expected}, as /schema{error.schema_pointer} says"
        issue = Issue(error.pointer, "contradicts-schema", error.rule, expected, error.actual)
        raise DecodeError(wire.FORMAT, [issue]) from None
    if type(row) is not dict:  # a logical type that is no row, on the whole of it
        expected = "a row, but /schema declares a value"
        issue = Issue(f"/payload/{place}", "contradicts-schema", "connect", expected, image)
        raise DecodeError(wire.FORMAT, [issue])
    if notes:
        used.extend(note.kind for note in notes)
    return row


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

    They have the types of the row where they fit them, so that the key of a row is the same in
    messages with and without images.
    """
    try:
        found = _PARSE(data) if data else None
    except PARSER_ERRORS:
        return None
    if isinstance(found, dict) and found.keys() == {"schema", "payload"}:
        found = found["payload"]
    if not isinstance(found, dict):
        return None
    reader = _reader(compiled, "after") or _reader(compiled, "before")
    try:
        typed = reader.read(found, "", partial=True) if reader else found
    except ValueMismatch:
        return found
    return typed if isinstance(typed, dict) else found


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
