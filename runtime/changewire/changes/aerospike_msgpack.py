"""Aerospike messages in MessagePack to changes: the very ones that the JSON form gives."""

from collections.abc import Sequence
from typing import Any

from changewire.changes.aerospike import duplicate_bin, record_change
from changewire.changes.change_row import ChangeRow, unknown_event
from changewire.changes.particles import DURABLE, PLAIN, column_value, note
from changewire.codec import DecodeError
from changewire.codec.wire import too_deep
from changewire_messages import aerospike_msgpack as wire

_KNOWN = frozenset({wire.Write, wire.Delete, wire.LegacyDelete})


def aerospike_msgpack_changes(
    message: wire.Message,
    record_key: bytes | None,  # noqa: ARG001 - the message names the row
    keys: Sequence[str] | None,  # noqa: ARG001 - the digest does
    image: str,
    families: Sequence[str] | None,  # noqa: ARG001 - records have none
) -> ChangeRow:
    """Return the change that a message is.

    Args:
        message: A write, or a delete of either version.
        record_key: Key of the Kafka record.
        keys: None: the digest names the row.
        image: What a write's bins are: the full row, or a patch of it.
        families: None: records have no column families.

    Raises:
        DecodeError: Two bins of a record have the same name, or one is nested too deep.
    """
    if type(message) not in _KNOWN:
        return unknown_event(message, "aerospike")
    key = message.payload.key
    attributes: dict[str, Any] = {"set": key.set, "user_key": key.user_key}
    if isinstance(message, wire.LegacyDelete):
        attributes["durable"] = _durable(message.payload.flags, attributes)
        return record_change(key, None, None, None, attributes)
    payload = message.payload
    attributes |= {"gen": payload.gen, "exp": payload.exp, "lut": payload.lut}
    if isinstance(payload, wire.WritePayload):
        try:
            after = _columns(payload.bins, attributes)
        except RecursionError:
            # Who decoded it may have had more of the stack left.
            raise DecodeError(wire.FORMAT, [too_deep("msgpack")]) from None
        attributes["image"] = image if after else "keys"
    else:
        after = None
        attributes["durable"] = _durable(payload.flags, attributes)
    return record_change(key, payload.gen, payload.lut, after, attributes)


def _durable(flags: int, attributes: dict[str, Any]) -> bool:
    """Return whether a delete was durable; flags that have no meaning yet are kept."""
    if flags & ~DURABLE:
        attributes["flags"] = flags
    return bool(flags & DURABLE)


def _columns(bins: list[wire.Bin], attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a record; what their values do not show goes to the attributes."""
    columns: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    for item in bins:
        columns[item.name] = column_value(item.type, item.value)
        if (item.type not in PLAIN or item.flags) and (found := note(item.type, item.flags)):
            notes[item.name] = found
    if len(columns) < len(bins):
        raise DecodeError(wire.FORMAT, [duplicate_bin(bins, "/2/4")])
    if notes:
        attributes["bins"] = notes
    return columns
