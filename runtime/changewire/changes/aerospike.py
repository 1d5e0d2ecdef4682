"""Aerospike messages to changes: bins become columns, the digest becomes the key."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from changewire.changes.adapters import Adapter
from changewire.changes.aerospike_digest import KEY_COLUMN, check_digest
from changewire.changes.aerospike_particles import show_user_key
from changewire.changes.change_row import ChangeRow, unknown_event
from changewire.changes.change_table import row_by, source_of
from changewire.changes.decode_options import DecodeOptions
from changewire.codec import DecodeError, Issue, codec
from changewire.codec.msgpack_values import pointer_of
from changewire.codec.places import place_in
from changewire_messages import aerospike_json as wire
from changewire_messages.aerospike_json import changes as table
from changewire_messages.support import Path

OPTIONS: Final = frozenset({"row_image", "check_digests"})
REASONS: Final[Mapping[str, str]] = {"key_columns": "rows are named by their digest"}

_PLAIN = frozenset({wire.StrBin, wire.BoolBin, wire.IntBin, wire.FloatBin})
"""Bins whose value shows their type, and that have nothing more to say."""

_ORDERS: Mapping[Any, str] = {wire.ListBin: "ordered", wire.MapBin: "order"}
"""Bins whose value shows their type, and the field that it does not show."""


def aerospike_changes(
    message: wire.Message, _record_key: bytes | None, options: DecodeOptions
) -> ChangeRow:
    """Return the change that a message is; ``row_image`` says what the bins of a write are.

    A float bin that is not a number or infinite keeps its text: JSON has no number for it.
    """
    op = table.op(message)
    if op is None:
        return unknown_event(message, table.SYSTEM)
    attributes = table.attributes(message)
    after = None
    if op != "delete":
        after = _columns(message, attributes)
        # A write without bins says that the record changed, and nothing about its columns.
        attributes["row_image"] = "keys"
    if message.extra is not UNSET:
        attributes["extra"] = dict(message.extra)
    key = {KEY_COLUMN: message.key.digest}
    row = row_by(table, message, op=op, key=key, after=after, attributes=attributes)
    if after:
        attributes["row_image"] = options.image_of(row.source)
    check_digest(row, message, ("key",), options.vendor["check_digests"])
    return row


def aerospike_delete(record_key: bytes, options: DecodeOptions) -> ChangeRow:
    """Return the delete that a record without value is; of the record only the key is known."""
    return delete_of(record_key, options, lambda key: key)


def delete_of(record_key: bytes, options: DecodeOptions, key_of: Callable[[Any], Any]) -> ChangeRow:
    """Return the delete that a record without value is, in any form of the key."""
    found = codec(options.format).decode_key(record_key)
    if isinstance(found, list):
        issue = Issue("", "batch", "key", "the key of one record", found)
        raise DecodeError(options.format, [issue])
    key = key_of(found)
    attributes = {**table.attributes_of_key(key), "tombstone": True}
    show_user_key(attributes)
    return ChangeRow(
        op="delete",
        source=source_of(table.SYSTEM, *table.source_of_key(key)),
        key={KEY_COLUMN: key.digest},
        attributes=attributes,
    )


def _columns(message: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a record; types that their values hide go to the attributes."""
    columns: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    for item in message.bins:
        columns[item.name] = item.value
        if type(item) not in _PLAIN and (note := _note(item)):
            notes[item.name] = note
    if len(columns) < len(message.bins):
        raise DecodeError(wire.FORMAT, [duplicate_bin(message.bins, place_in(message, "bins"))])
    if notes:
        attributes["bins"] = notes
    return columns


def _note(item: Any) -> dict[str, Any]:
    """Return what the value of a bin does not show of its type."""
    field = _ORDERS.get(type(item))
    if field is None:
        return {"type": str(item.type)}
    order = getattr(item, field)
    return {} if order is UNSET else {"type": item.type, field: order}


def duplicate_bin(bins: Sequence[Any], at: Path) -> Issue:
    """Return the issue of the first bin with the name of an earlier one; bins are at `at`."""
    names = [item.name for item in bins]
    i = next(i for i, name in enumerate(names) if name in names[:i])
    pointer = pointer_of(place_in(bins[i], "name", at=(at, i)))
    return Issue(pointer, "duplicate-column", "bins", "a name no other bin has", names[i])


ADAPTER: Final = Adapter(
    table.SYSTEM, aerospike_changes, OPTIONS, REASONS, delete_by_key=aerospike_delete
)
