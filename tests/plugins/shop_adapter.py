"""What messages of the shop mean for tables: an adapter as somebody else writes it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from msgspec.structs import replace

import changewire as cw

SOURCE = cw.Source(system="shop", database="shop", schema=None, table="orders")


def change(
    message: Any, record_key: bytes | None, keys: Sequence[str] | None, image: str
) -> cw.Change:
    """Return the change that a message stands for."""
    order = message.order
    if order < 0:
        issue = cw.Issue("/order", "out-of-range", "order", "an order that there is", order)
        raise cw.DecodeError("store-json", [issue])
    is_placed = type(message).__name__ == "Placed"
    return cw.Change(
        op="upsert" if is_placed else "delete",
        source=SOURCE,
        key=dict.fromkeys(keys or ["order"], order),
        before_key=None,
        before=None,
        after={"order": order, "total": message.total} if is_placed else None,
        event_time=datetime(2024, 1, 1, tzinfo=timezone.utc),
        sequence=cw.Sequence(major=order, minor=0),
        ddl=None,
        schema_fingerprint=None,
        attributes={"image": image, "record_key": record_key},
    )


def failing(message: Any, *_told: object) -> cw.Change:
    """Fail with a value of the message in the text."""
    raise KeyError(message.order)


def nothing(*_told: object) -> None:
    """Return what is no change."""


def wrong(message: Any, *told: Any) -> cw.Change:
    """Return a change whose operation nobody knows."""
    found: Any = change(message, *told)
    return replace(found, op="invented")  # type: ignore[no-any-return]


def unwritable(message: Any, *told: Any) -> cw.Change:
    """Return a change with a value that no table holds."""
    return replace(change(message, *told), after={"a": object()})
