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
from changewire.tables.mutations import DELETE
from changewire.tables.order import position_in
from changewire.tables.routing import NAMES
from changewire_messages.tables.arrow import ROW_MUTATION

Effect: TypeAlias = dict[str, Any]
"""What a change does to one row, by the columns `EFFECT`."""

Update: TypeAlias = tuple[Any, ...]
"""Names of a source, and the first number of the sequence of an update."""

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


def effects_in(changes: Iterable[Row]) -> Iterator[Effect]:
    """Yield what changes do to rows.

    A before image that came alone deletes its key if the after image of the same source and
    sequence is among the changes and has another key. Otherwise it does nothing.

    Raises:
        OutputError: A row is not a JSON object.
    """
    updates: dict[Update, list[Row]] = {}
    for row in changes:
        update = update_of(row)
        if update is not None:
            updates.setdefault(update, []).append(row)
        if not is_before(row):
            yield from _effects(row)
    for images in updates.values():
        for row in moved(images):
            yield from _effects(row)[-1:]


def is_before(row: Row) -> bool:
    """Whether a change is the before image of an update, without its after image."""
    sequence = row["sequence"]
    is_first = sequence is None or sequence["minor"] == 0
    return row["op"] == "update" and row["after"] is None and row["before"] is not None and is_first


def update_of(row: Row) -> Update | None:
    """Return which update a change is one image of; None if it is none, or has both."""
    sequence = row["sequence"]
    if row["op"] != "update" or sequence is None or sequence["major"] < 0 or row["key"] is None:
        return None
    is_after = row["before"] is None and row["after"] is not None and sequence["minor"] == 1
    if not (is_after or is_before(row)):
        return None
    return (*(row["source"][name] for name in NAMES), sequence["major"])


def moved(images: Iterable[Row]) -> list[Row]:
    """Return the before images of one update whose key is gone: the row has another one now."""
    befores, others = images_by_key(images)
    return [row for rows in befores.values() for row in rows] if others else []


def images_by_key(images: Iterable[Row]) -> tuple[dict[str, list[Row]], set[str]]:
    """Return the before images of one update that no after image has the key of, and other keys.

    The other keys are those of after images alone: where the row has moved to.
    """
    befores: dict[str, list[Row]] = {}
    afters: set[str] = set()
    for row in images:
        effects = _effects(row)
        if not effects:  # a before image of a few columns says nothing
            continue
        if is_before(row):
            befores.setdefault(effects[-1]["key"], []).append(row)
        else:
            afters.add(effects[-1]["key"])
    gone = {key: rows for key, rows in befores.items() if key not in afters}
    return gone, afters - befores.keys()


def _effects(row: Row) -> list[Effect]:
    """Return what a change does by itself."""
    if row["key"] is None or row["op"] not in CHANGE_OPS:
        return []
    try:
        found = effects_of_logged(row)
    except (ValueError, msgspec.MsgspecError):
        raise no_object(row) from None
    place = {**position_in(row)._asdict(), "op": row["op"], "event_time": row["event_time"]}
    return [
        {**one, **place, "after": None if one["kind"] == DELETE else row["after"]} for one in found
    ]


def no_object(row: Row) -> OutputError:
    """Return the error of a change whose rows are not JSON objects."""
    return OutputError(f"the change at {place_text(row)}: a row is not a JSON object: no log?")


def place_text(row: Row) -> str:
    """Return where a change was read, for people."""
    return "/".join(map(str, position_in({"path": None, "number": None, **row})[:3]))
