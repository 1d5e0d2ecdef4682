"""Aerospike messages in MessagePack to changes: the very ones that the JSON form gives."""

from typing import Any, Final

from msgspec import UNSET

from changewire.changes.adapters import Adapter
from changewire.changes.aerospike import (
    OPTIONS,
    REASONS,
    SYSTEM,
    aerospike_delete,
    duplicate_bin,
    record_change,
)
from changewire.changes.aerospike_digest import check_digest
from changewire.changes.aerospike_particles import DURABLE, PLAIN, column_value, note
from changewire.changes.change_row import ChangeRow, unknown_event
from changewire.changes.decode_options import DecodeOptions
from changewire.codec import DecodeError, json_form
from changewire.codec.places import place_in
from changewire.codec.wire import too_deep
from changewire_messages import aerospike_msgpack as wire

_KNOWN = frozenset({wire.Write, wire.Delete, wire.LegacyDelete})


def aerospike_msgpack_changes(
    message: wire.Message, _record_key: bytes | None, options: DecodeOptions
) -> ChangeRow:
    """Return the change that a message is, as `aerospike_changes` does."""
    if type(message) not in _KNOWN:
        return unknown_event(message, SYSTEM)
    try:
        row = _row(message, options.row_image)
    except RecursionError:
        # The decoder may have had more of the stack left.
        raise DecodeError(wire.FORMAT, [too_deep("msgpack")]) from None
    if (digests := options.vendor["check_digests"]) != "off":
        check_digest(row, message, ("payload", "key"), digests)
    return row


def _row(message: Any, row_image: str) -> ChangeRow:
    key = message.payload.key
    attributes: dict[str, Any] = {"set": key.set, "user_key": key.user_key}
    if message.extra is not UNSET:
        attributes["extra"] = {at: json_form(value) for at, value in message.extra.items()}
    if isinstance(message, wire.LegacyDelete):
        attributes["durable"] = _durable(message.payload.flags, attributes)
        return record_change(key, None, None, None, attributes)
    payload = message.payload
    attributes |= {"gen": payload.gen, "exp": payload.exp, "lut": payload.lut}
    if isinstance(payload, wire.WritePayload):
        after = _columns(message, attributes)
        attributes["row_image"] = row_image if after else "keys"
    else:
        after = None
        attributes["durable"] = _durable(payload.flags, attributes)
    return record_change(key, payload.gen, payload.lut, after, attributes)


def _durable(flags: int, attributes: dict[str, Any]) -> bool:
    """Return whether a delete was durable; flags that have no meaning yet are kept."""
    if flags & ~DURABLE:
        attributes["flags"] = flags
    return bool(flags & DURABLE)


def _columns(message: wire.Write, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a record; what their values do not show goes to the attributes."""
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
    SYSTEM, aerospike_msgpack_changes, OPTIONS, REASONS, delete_by_key=aerospike_delete
)
