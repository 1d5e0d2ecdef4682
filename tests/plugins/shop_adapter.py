"""What messages of the shop mean for tables: adapters as another package defines them."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from msgspec.structs import replace

import changewire as cw

SOURCE = cw.Source(system="shop", database="shop", schema=None, table="orders")


def _change(message: Any, record_key: bytes | None, options: cw.DecodeOptions) -> cw.Change:
    order = message.order
    if order < 0:
        issue = cw.Issue("/order", "out-of-range", "order", "an order that there is", order)
        raise cw.DecodeError("store-json", [issue])
    is_placed = type(message).__name__ == "Placed"
    return cw.Change(
        op="upsert" if is_placed else "delete",
        source=SOURCE,
        key=dict.fromkeys(options.keys_of(SOURCE) or ["order"], order),
        before_key=None,
        before=None,
        after={"order": order, "total": message.total} if is_placed else None,
        event_time=datetime(2024, 1, 1, tzinfo=timezone.utc),
        sequence=cw.Sequence(major=order, minor=0),
        ddl=None,
        schema_fingerprint=None,
        attributes={"row_image": options.row_image, "record_key": record_key},
    )


def _failing(message: Any, *_ignored: object) -> cw.Change:
    """Fail with a value of the message in the text."""
    raise KeyError(message.order)


def _nothing(*_ignored: object) -> Any:
    """Return no change."""


def _wrong(message: Any, *others: Any) -> cw.Change:
    """Return a change with an unknown operation."""
    found: Any = _change(message, *others)
    return replace(found, op="invented")  # type: ignore[no-any-return]


def _unwritable(message: Any, *others: Any) -> cw.Change:
    """Return a change with a value that no table holds."""
    return replace(_change(message, *others), after={"a": object()})


def _delete(record_key: bytes, options: cw.DecodeOptions) -> cw.Change:
    """Return the delete of the order whose number is the key of a record."""
    if not record_key.isdigit():
        issue = cw.Issue("", "wrong-value", "key", "the number of an order", record_key)
        raise cw.DecodeError(options.format, [issue])
    return cw.Change(
        op="delete",
        source=SOURCE,
        key={"order": int(record_key)},
        before_key=None,
        before=None,
        after=None,
        event_time=None,
        sequence=None,
        ddl=None,
        schema_fingerprint=None,
        attributes={"tombstone": True},
    )


change = cw.Adapter("shop", _change, {"row_image", "key_columns"}, delete_by_key=_delete)
deaf = cw.Adapter("shop", _change, reasons={"key_columns": "orders have numbers"})
failing = cw.Adapter("shop", _failing)
nothing = cw.Adapter("shop", _nothing)
wrong = cw.Adapter("shop", _wrong)
unwritable = cw.Adapter("shop", _unwritable)
