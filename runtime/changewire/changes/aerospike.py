"""Aerospike messages to changes: bins become columns, the digest becomes the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from changewire_messages import aerospike_json as wire
from changewire_messages.change import Change, Sequence, Source
from msgspec import UNSET

from changewire.codec import DecodeError, Issue

KEY_COLUMN = "aerospike_digest"
"""Column that holds the digest. Bin names are shorter, so no bin can have this name."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_BIN_NOTES: Mapping[type, Callable[[Any], dict[str, Any]]] = {
    wire.BlobBin: lambda _: {"type": "blob"},
    wire.GeojsonBin: lambda _: {"type": "geojson"},
    wire.ListBin: lambda b: {} if b.ordered is UNSET else {"type": "list", "ordered": b.ordered},
    wire.MapBin: lambda b: {} if b.order is UNSET else {"type": "map", "order": b.order},
    wire.UnknownBin: lambda b: {"type": str(b.type)},
}
"""What JSON text does not show of a bin's type."""


def aerospike_changes(message: wire.Message, image: str) -> list[Change]:
    """Return the one change that a message is.

    A float bin that is not a number or infinite keeps its text: JSON has no number for it.

    Args:
        message: A write or a delete.
        image: What a write's bins are: the full row, or a patch of it.

    Raises:
        DecodeError: Two bins of a record have the same name.
    """
    key, is_write = message.key, isinstance(message, wire.Write)
    attributes = _attributes(message)
    after = None
    if isinstance(message, wire.Write):
        after = _columns(message)
        # A write without bins says that the record changed, and nothing about its columns.
        attributes["image"] = image if after else "keys"
    lut, gen = message.lut, message.gen
    return [
        Change(
            op="upsert" if is_write else "delete",
            source=Source(system="aerospike", database=key.namespace, schema=None, table=key.set),
            key={KEY_COLUMN: key.digest},
            before_key=None,
            before=None,
            after=after,
            event_time=_EPOCH + timedelta(milliseconds=lut) if lut else None,
            sequence=Sequence(major=lut, minor=gen or 0) if lut else None,
            ddl=None,
            schema_fingerprint=None,
            attributes=attributes,
        )
    ]


def _columns(message: wire.Write) -> dict[str, Any]:
    columns = {item.name: item.value for item in message.bins}
    if len(columns) < len(message.bins):
        names = [item.name for item in message.bins]
        place = next(i for i, name in enumerate(names) if name in names[:i])
        issue = Issue(
            f"/bins/{place}/name", "duplicate-column", "bins", "a name no other bin has", names[place]
        )
        raise DecodeError(wire.FORMAT, [issue])
    return columns


def _attributes(message: wire.Message) -> dict[str, Any]:
    """Return what only Aerospike has, by its own names; what the message lacks is absent."""
    key = message.key
    found: dict[str, Any] = {"set": key.set, "user_key": key.user_key}
    for name in ("gen", "exp", "lut"):
        value = getattr(message, name)
        if value is not UNSET:
            found[name] = value
    if isinstance(message, wire.Delete):
        if message.durable is not UNSET:
            found["durable"] = message.durable
    else:
        notes = {b.name: _BIN_NOTES[type(b)](b) for b in message.bins if type(b) in _BIN_NOTES}
        bins = {name: note for name, note in notes.items() if note}
        if bins:
            found["bins"] = bins
    if message.extra is not UNSET:
        found["extra"] = dict(message.extra)
    return found
