"""Aerospike messages in MessagePack to changes: the very ones that the JSON form gives."""

from typing import Any, Final

from msgspec import UNSET

from changewire.changes.adapters import Adapter
from changewire.changes.aerospike import (
    OPTIONS,
    REASONS,
    aerospike_delete,
    duplicate_bin,
)
from changewire.changes.aerospike_digest import KEY_COLUMN, check_digest
from changewire.changes.aerospike_particles import PLAIN, column_value, note, show_user_key
from changewire.changes.change_row import ChangeRow, unknown_event
from changewire.changes.change_table import row_by
from changewire.changes.decode_options import DecodeOptions
from changewire.codec import DecodeError, json_form
from changewire.codec.places import place_in
from changewire.codec.wire import too_deep
from changewire_messages import aerospike_msgpack as wire
from changewire_messages.aerospike_msgpack import changes as table
from changewire_messages.aerospike_msgpack.values import DURABLE


def aerospike_msgpack_changes(
    message: wire.Message, _record_key: bytes | None, options: DecodeOptions
) -> ChangeRow:
    """Return the change that a message is, as `aerospike_changes` does."""
    op = table.op(message)
    if op is None:
        return unknown_event(message, table.SYSTEM)
    try:
        row = _row(message, op, options)
    except RecursionError:
        # The decoder may have had more of the stack left.
        raise DecodeError(wire.FORMAT, [too_deep("msgpack")]) from None
    check_digest(row, message, ("payload", "key"), options.vendor["check_digests"])
    show_user_key(row.attributes)  # a digest is of the number
    return row


def _row(message: Any, op: str, options: DecodeOptions) -> ChangeRow:
    attributes, after = table.attributes(message), None
    if op == "delete":
        attributes["durable"] = _durable(message.payload.flags, attributes)
    else:
        after = _columns(message, attributes)
        attributes["row_image"] = "keys"
    if message.extra is not UNSET:
        attributes["extra"] = {at: json_form(value) for at, value in message.extra.items()}
    key = {KEY_COLUMN: message.payload.key.digest}
    row = row_by(table, message, op=op, key=key, after=after, attributes=attributes)
    if after:
        attributes["row_image"] = options.image_of(row.source)
    return row


def _durable(flags: int, attributes: dict[str, Any]) -> bool:
    """Return whether a delete was durable; flags that have no meaning yet are kept."""
    if flags & ~DURABLE:
        attributes["flags"] = flags
    return bool(flags & DURABLE)


def _columns(message: wire.Write, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a record; types that their values hide go to the attributes."""
    columns: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    bins = message.payload.bins
    for item in bins:
        columns[item.name] = column_value(item.type, item.value)
        if (item.type not in PLAIN or item.flags) and (found := note(item.type, item.flags)):
            notes[item.name] = found
    if len(columns) < len(bins):
        raise DecodeError(wire.FORMAT, [duplicate_bin(bins, place_in(message, "payload", "bins"))])
    if notes:
        attributes["bins"] = notes
    return columns


ADAPTER: Final = Adapter(
    table.SYSTEM, aerospike_msgpack_changes, OPTIONS, REASONS, delete_by_key=aerospike_delete
)
