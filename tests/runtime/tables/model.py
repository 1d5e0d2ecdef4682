"""What tables are, said as plainly as can be: sort the changes of each row, apply one by one."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from changewire.tables import PositionedChange

Key = tuple[tuple[str, Any], ...]
Content = dict[str, dict[Key, dict[str, Any]]]
ALL = "*"
NOTHING = (-(2**70), 0)


class Event(NamedTuple):
    """What a change does to one row; to all rows of the table where it has no key."""

    table: str
    key: Key | None
    order: Any
    kind: str
    change: Any


class Version(NamedTuple):
    """A row from one change to the next that made it another; orders are those of `Event`."""

    row: dict[str, Any]
    began: Any
    ended: Any


def tables_of(
    changes: Iterable[PositionedChange], *, truncates: bool = False, befores_wait: bool = False
) -> Content:
    """Return the rows of every table by key, after all changes, each table known beforehand."""
    if befores_wait:
        changes = without_waiting([*changes])
    events = [event for placed in changes for event in events_of(placed, truncates=truncates)]
    found: Content = {event.table: {} for event in events if event.table != ALL and event.key}
    for table, rows in found.items():
        for key, mine in by_key(events, table).items():
            row = row_of(mine)
            if row is not None:
                rows[key] = row
    return found


def filled(tables: Content) -> Content:
    """Return the tables that have rows."""
    return {name: rows for name, rows in tables.items() if rows}


def without_waiting(changes: list[PositionedChange]) -> list[PositionedChange]:
    """Return changes without the before images that delete nothing.

    One deletes its key if an after image of the same source and sequence has a key that none of
    these before images has; and if none of these after images has its own key.
    """
    halves: dict[Any, tuple[set[Key], set[Key]]] = {}
    for placed in changes:
        change, kind = placed.change, kind_of(placed.change)
        is_after = change.op == "update" and change.before is None and change.after is not None
        if change.sequence is None or change.key is None or not (kind == "before" or is_after):
            continue
        group = halves.setdefault(half_of(change), (set(), set()))
        group[kind != "before"].add(key_of(change.key))
    found = []
    for placed in changes:
        change = placed.change
        if kind_of(change) == "before":
            befores, afters = halves.get(half_of(change), (set(), set()))
            if key_of(change.key or {}) in afters or not afters - befores:
                continue
        found.append(placed)
    return found


def half_of(change: Any) -> Any:
    """Return what both images of an update have in common."""
    source = change.source
    names = (source.system, source.database, source.schema, source.table)
    return names, change.sequence.major


def versions_of(
    changes: Iterable[PositionedChange], table: str = "t", *, befores_wait: bool = False
) -> dict[Key, list[Version]]:
    """Return the versions of every row of a table: the row after each of its changes in turn."""
    if befores_wait:
        changes = without_waiting([*changes])
    events = [event for placed in changes for event in events_of(placed, truncates=True)]
    found = {key: spans_of(mine) for key, mine in by_key(events, table).items()}
    return {key: versions for key, versions in found.items() if versions}


def by_key(events: list[Event], table: str) -> dict[Key, list[Event]]:
    """Return the events of each row of a table; those of all rows are among them."""
    mine = [event for event in events if event.table in {table, ALL}]
    found: dict[Key, list[Event]] = {event.key: [] for event in mine if event.key is not None}
    for event in mine:
        for key in found if event.key is None else (event.key,):
            found[key].append(event)
    return found


def spans_of(events: list[Event]) -> list[Version]:
    """Return the versions of one row, oldest first."""
    found: list[Version] = []
    before = None
    once = {event.order: event for event in events}
    ordered = [once[order] for order in sorted(once)]
    for number, event in enumerate(ordered, 1):
        row = row_of(ordered[:number])
        if row == before or is_half(ordered[number - 1 :]):
            continue
        if before is not None:
            found[-1] = found[-1]._replace(ended=event.order)
        if row is not None:
            found.append(Version(row, event.order, None))
        before = row
    return found


def is_half(events: list[Event]) -> bool:
    """Whether the first event is a delete which a write undoes that is half of the same update."""
    (major, minor), _ = events[0].order
    of_delete = [event for event in events if event.order[0] == (major, minor)]
    after = events[len(of_delete) : len(of_delete) + 1]
    is_all = minor == 0 and all(event.kind == "delete" for event in of_delete)
    return is_all and any(
        event.order[0] == (major, 1) and event.kind != "delete" for event in after
    )


def events_of(placed: PositionedChange, *, truncates: bool) -> list[Event]:
    """Return what a change does: to one row, to two, or to all."""
    change, position = placed.change, placed.position
    sequence = change.sequence
    major, minor = NOTHING if sequence is None else (sequence.major, sequence.minor)
    order, early = ((major, minor), position), ((major, 0), position)
    table = change.source.table or ALL
    if change.op == "truncate":
        return [Event(table, None, order, "delete", change)] if truncates else []
    if change.key is None:
        return []
    kind = kind_of(change)
    found = [Event(table, key_of(change.key), order, kind, change)]
    if kind == "before":
        found = [Event(table, key_of(change.key), early, "delete", change)]
    if change.before_key:
        found.append(Event(table, key_of(change.before_key), early, "delete", change))
    return found


def kind_of(change: Any) -> str:
    """Return what a change does: full, patch, keys, delete, or before."""
    image = change.attributes.get("row_image", "full")
    if change.op == "delete":
        return "delete"
    if change.op == "update" and change.after is None and change.before is not None:
        return "before" if image == "full" else "nothing"
    return image if change.after is not None else "keys"


def row_of(events: list[Event]) -> dict[str, Any] | None:
    """Return a row after its events, oldest first."""
    row: dict[str, Any] | None = None
    for event in sorted(events, key=lambda event: event.order):
        kind, change = event.kind, event.change
        after = change.after or {}
        if kind == "delete":
            row = None
        elif kind == "full":
            row = dict(after)
        elif kind == "patch":
            gone = [n for n in change.before or {} if n not in after and n not in change.key]
            gone += [n for n in after if after[n] is None]
            row = {**(row or {}), **after}
            row = {name: value for name, value in row.items() if name not in gone}
        elif kind == "keys":
            row = row or {}
        if row is not None:
            row |= change.key
    return row


def key_of(key: dict[str, Any]) -> Key:
    """Return a key as a dictionary takes it."""
    return tuple(sorted(key.items()))
