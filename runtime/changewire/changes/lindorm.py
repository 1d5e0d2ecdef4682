"""Lindorm messages to changes: rows before and after, and cells of HBase tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from changewire.changes import lindorm_schema
from changewire.changes.adapters import Adapter
from changewire.changes.change_row import ChangeRow, unknown_event
from changewire.changes.change_table import row_by, source_of
from changewire.changes.connect.reader import Reader
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.identity import is_one_row
from changewire.changes.lindorm_options import LindormKeywords
from changewire.changes.lindorm_rows import (
    NO_READERS,
    ROW_KEY,
    Row,
    cells,
    compiled_schema,
    place_of,
    readers_of,
    record_columns,
    typed_row,
)
from changewire.changes.values import key_of
from changewire.codec import DecodeError, Issue
from changewire.codec.framed import framing_issue
from changewire_messages import lindorm_json as wire
from changewire_messages.lindorm_json import changes as table

FRAMED_KEY: Final = "framed-record-key"
"""Leniency: the record key is not read, and the row has its key elsewhere."""


def lindorm_changes(
    message: wire.Message, record_key: bytes | None, options: DecodeOptions
) -> ChangeRow:
    """Return the change that a message is."""
    payload: Any = message.payload
    op: Any = table.op(message)
    if op is None:
        return unknown_event(message, table.SYSTEM)
    used: list[str] = []
    issues: list[Issue] = []
    compiled = compiled_schema(message)
    before = None if payload.before is UNSET else payload.before
    after = None if op == "delete" else payload.after
    if compiled is not None:
        before = typed_row(before, "before", compiled, used, issues)
        after = typed_row(after, "after", compiled, used, issues)
        if issues:
            raise DecodeError(wire.FORMAT, issues)
    named, readers = record_columns(record_key, compiled)
    source = source_of(table.SYSTEM, *table.source(message))
    keys = options.keys_of(source)
    families = options.vendor["column_families"]
    of_after, of_before = readers_of(compiled, "after"), readers_of(compiled, "before")
    of_rows = of_after, of_before, readers
    if _is_hbase((before, after, named), of_rows, keys, families, used):
        keys = keys or (ROW_KEY,)
        if families is not None:
            of_after = of_before = readers = NO_READERS
        before = cells(before, place_of(message, "before"), families, used, of_before)
        after = cells(after, place_of(message, "after"), families, used, of_after)
        named = cells(named, "", None, used, readers)
    key, before_key = _keys(op, before, after, named, keys)
    if record_key and named is None:
        _check_framing(record_key, key, used)
    return row_by(
        table,
        message,
        op=op,
        key=key,
        before_key=before_key,
        before=before,
        after=after,
        schema_fingerprint=None if compiled is None else compiled.fingerprint,
        attributes=_attributes(message, options.image_of(source), used),
    )


def _check_framing(record_key: bytes, key: Row | None, used: list[str]) -> None:
    """Reject a change without key whose record key cannot be read for the bytes around it."""
    framed = framing_issue(record_key, "key", "a record key")
    if framed is None:
        return
    if key is None:
        raise DecodeError(wire.FORMAT, [framed])
    used.append(FRAMED_KEY)


def lindorm_delete(record_key: bytes, options: DecodeOptions) -> ChangeRow:
    """Return the delete that a record without value is; its key does not say the table."""
    named, readers = record_columns(record_key, None)
    source, used = source_of(table.SYSTEM), list[str]()
    keys, families = options.keys_of(source), options.vendor["column_families"]
    if _is_hbase((named,), (readers,), keys, families, used):
        is_declared = families is None
        named = cells(named, "", None, [], readers if is_declared else ())
    key = key_of(named, keys or tuple(named)) if named else None
    if not key:
        columns = ", ".join(keys or ("the columns that name a row",))
        expected = f"a JSON object with {columns}"
        issue = Issue("", "invalid-record-key", "key", expected, record_key)
        raise DecodeError(wire.FORMAT, [issue])
    attributes: dict[str, Any] = {"tombstone": True}
    if used:
        attributes["leniencies"] = used
    return ChangeRow(op="delete", source=source, key=key, attributes=attributes)


def _is_hbase(
    rows: Iterable[Row | None],
    readers: Iterable[Mapping[str, Reader]],
    keys: Sequence[str] | None,
    families: Sequence[str] | None,
    used: list[str],
) -> bool:
    """Return whether rows, which have columns of these readers, are those of an HBase table.

    The option ``column_families`` says so. Without it they are if they have the column `ROW_KEY`,
    unless there are key columns, or a schema declares that column as anything but bytes. If
    none declares it, `used` gets ``assumed-hbase``.
    """
    if not any(row and ROW_KEY in row for row in rows):
        return False
    if families is not None:
        return True
    declared = {columns[ROW_KEY].kind for columns in readers if ROW_KEY in columns}
    if keys is not None or declared - {"bytes"}:
        return False
    if not declared:
        used.append("assumed-hbase")
    return True


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
    row = after if after or named else before
    key = key_of(row, names) if row else None
    if key is None:
        # A subscription may leave out what did not change, so the key need not be in one place.
        key = key_of({**(before or {}), **(named or {}), **(after or {})}, names)
    before_key = key_of(before, names) if before and key and op == "update" else None
    return key, None if is_one_row(before_key, key) else before_key


def _attributes(message: wire.Message, row_image: str, used: list[str]) -> dict[str, Any]:
    """Return what only this format has; fields that a message lacks are absent."""
    found = {**table.attributes(message), "row_image": row_image}
    if used:
        found["leniencies"] = used
    if message.extra is not UNSET:
        found["extra"] = dict(message.extra)
    return found


ADAPTER: Final = Adapter(
    system=table.SYSTEM,
    change=lindorm_changes,
    options=frozenset({"row_image", "key_columns", *LindormKeywords.__annotations__}),
    delete_by_key=lindorm_delete,
    schemas=lindorm_schema.DIALECT,
    declared=lindorm_schema.lindorm_declared,
    undeclared=lindorm_schema.lindorm_undeclared,
)
