"""What the changes of a log do to rows: one row for each key that a change concerns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

import msgspec
import pyarrow as pa

from changewire.engines.changelog.logged import TIME, Row
from changewire.engines.effects import effects_of_logged
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE_OPS
from changewire.tables.memory import KeyedImages, Update
from changewire.tables.mutations import DELETE
from changewire.tables.order import position_in
from changewire.tables.routing import NAMES
from changewire_messages.change import Source
from changewire_messages.tables.arrow import ROW_MUTATION

Effect: TypeAlias = dict[str, Any]
"""The effect of a change on one row, by the columns `EFFECT`."""

EFFECT: Final = pa.schema(
    [
        *ROW_MUTATION,
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("element", pa.int32()),
        ("op", pa.string()),
        ("event_time", TIME),
        ("after", pa.string()),
    ]
)


class LoggedImages(KeyedImages[str, Row]):
    """The images of one update, as rows of a log."""

    def add(self, row: Row, key: str | None) -> None:
        """Add an image by the key of its row; None if it says nothing about a row."""
        if key is not None and row["after"] is None:
            self.befores.setdefault(key, []).append(row)
        elif key is not None:
            self.afters.add(key)


def effects_in(changes: Iterable[Row]) -> Iterator[Effect]:
    """Yield the effects of changes on rows, the images of an update among them together."""
    updates: dict[Update, LoggedImages] = {}
    for row in changes:
        update, effects = update_of(row), effects_of(row)
        if update is not None:
            updates.setdefault(update, LoggedImages()).add(row, key_in(effects))
        if not is_before(row):
            yield from effects
    for images in updates.values():
        for row in images.moved():
            yield from effects_of(row)[-1:]


def is_before(row: Row) -> bool:
    """Whether a change is the before image of an update, without its after image."""
    sequence = row["sequence"]
    is_first = sequence is None or sequence["minor"] == 0
    return row["op"] == "update" and row["after"] is None and row["before"] is not None and is_first


def update_of(row: Row) -> Update | None:
    """Return which update a change is one image of; None if it is not one, or has both."""
    sequence = row["sequence"]
    if row["op"] != "update" or sequence is None or sequence["major"] < 0 or row["key"] is None:
        return None
    is_after = row["before"] is None and row["after"] is not None and sequence["minor"] == 1
    if not (is_after or is_before(row)):
        return None
    return Source(**{name: row["source"][name] for name in NAMES}), sequence["major"]


def key_in(effects: list[Effect]) -> str | None:
    """Return the key of the row that effects of a change are on; None without any."""
    return effects[-1]["key"] if effects else None


def effects_of(row: Row) -> list[Effect]:
    """Return the effect of a change by itself."""
    if row["key"] is None or row["op"] not in CHANGE_OPS:
        return []
    try:
        found = effects_of_logged(row)
    except (ValueError, msgspec.MsgspecError):
        text = f"the change at {place_text(row)}: a row is not a JSON object: no log?"
        raise OutputError(text) from None
    place = {**position_in(row)._asdict(), "op": row["op"], "event_time": row["event_time"]}
    return [
        {**one, **place, "after": None if one["kind"] == DELETE else row["after"]} for one in found
    ]


def place_text(row: Row) -> str:
    """Return where a change was read, for people."""
    return "/".join(map(str, position_in({"path": None, "number": None, **row})[:3]))
