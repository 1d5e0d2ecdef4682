"""Lindorm messages to changes: rows read by the schema beside them, and cells of HBase tables."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from changewire.changes.connect import Compiled, Note, SchemaCache, SchemaError, ValueMismatch
from changewire.changes.values import from_milliseconds, key_of
from changewire.codec import DecodeError, Issue
from changewire_messages import lindorm_json as wire
from changewire_messages.change import Change, Source
from changewire_messages.change import Sequence as Order
from changewire_messages.support import pointer_token

ROW_KEY: Final = "ROW"
"""Column of an HBase table that holds the row key."""

_OPS: Final[Mapping[type, Any]] = {
    wire.Insert: "insert",
    wire.Update: "update",
    wire.Delete: "delete",
    wire.Read: "read",
}
_EMPTY: Final = frozenset({b"", b"null", b"{}"})

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
    compiled = _compiled(message)
    before = _row(payload.before, "before", compiled, used)
    after = _row(payload.after, "after", compiled, used)
    if keys is None and (ROW_KEY in (before or ()) or ROW_KEY in (after or ())):
        keys = (ROW_KEY,)
        before = _cells(before, "before", families, used)
        after = _cells(after, "after", families, used)
    row = before if after is None else after
    key = _key(row, keys, record_key)
    before_key = None if before is None or keys is None else key_of(before, keys)
    source = payload.source
    return [
        Change(
            op=_OPS[type(payload)],
            source=Source(
                system="lindorm", database=source.namespace, schema=None, table=source.table
            ),
            key=key,
            before_key=None if before_key == key else before_key,
            before=before,
            after=after,
            event_time=from_milliseconds(source.ts_ms),
            sequence=Order(major=source.ts_ms, minor=0),
            ddl=None,
            schema_fingerprint=None if compiled is None else compiled.fingerprint,
            attributes=_attributes(message, image, used),
        )
    ]


def _compiled(message: wire.Message) -> Compiled | None:
    """Return the schema of a message, compiled; None where the message has none."""
    if message.schema_text is UNSET:
        return None
    text = bytes(message.schema_text)
    if text in _EMPTY:
        return None
    try:
        return _SCHEMAS.get(text)
    except SchemaError as error:
        issue = Issue(
            f"/schema{error.pointer}", "invalid-schema", "schema", error.expected, error.actual
        )
        raise DecodeError(wire.FORMAT, [issue]) from None


def _row(image: Any, place: str, compiled: Compiled | None, used: list[str]) -> Any:
    """Return a row with values of the types that its schema declares; a column may be absent."""
    if not image and image != {}:
        return None
    reader = compiled.reader.fields.get(place) if compiled and compiled.reader else None
    if reader is None:
        return image
    notes: list[Note] = []
    try:
        row = reader.read(image, f"/payload/{place}", partial=True, notes=notes)
    except ValueMismatch as error:
        expected = f"{error.expected}, as /schema{error.schema_pointer} says"
        issue = Issue(error.pointer, "contradicts-schema", error.rule, expected, error.actual)
        raise DecodeError(wire.FORMAT, [issue]) from None
    used.extend(note.kind for note in notes)
    return row


def _cells(
    row: dict[str, Any] | None, place: str, families: Sequence[str] | None, used: list[str]
) -> dict[str, Any] | None:
    """Return the columns of an HBase row as bytes, under the names that HBase gives them."""
    if row is None:
        return None
    return {
        _column(name, families, used): _cell(value, f"/payload/{place}/{pointer_token(name)}")
        for name, value in row.items()
    }


def _cell(value: Any, pointer: str) -> Any:
    if type(value) is not str:
        return value
    try:
        return b64decode(value, validate=True)
    except (Base64Error, ValueError):
        issue = Issue(pointer, "invalid-base64", "hbase", "Base64 text", value)
    raise DecodeError(wire.FORMAT, [issue])


def _column(name: str, families: Sequence[str] | None, used: list[str]) -> str:
    """Return ``family:qualifier`` where the longest family that fits is known."""
    if not families or name == ROW_KEY:
        return name
    fits = [family for family in families if name.startswith(f"{family}_")]
    if not fits:
        used.append("unknown-family")
        return name
    family = max(fits, key=len)
    return f"{family}:{name[len(family) + 1 :]}"


def _key(
    row: dict[str, Any] | None, keys: Sequence[str] | None, record_key: bytes | None
) -> dict[str, Any] | None:
    named = _record_key(record_key)
    if keys is not None:
        return key_of({**named, **(row or {})}, keys)
    if not named:
        return None
    typed = row or {}
    return {name: typed.get(name, value) for name, value in named.items()}


def _record_key(data: bytes | None) -> dict[str, Any]:
    """Return the columns of a record key that is a JSON object, or its payload."""
    if not data:
        return {}
    try:
        found = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    if isinstance(found, dict) and found.keys() == {"schema", "payload"}:
        found = found["payload"]
    return found if isinstance(found, dict) else {}


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
