"""What tables are, said as plainly as can be: sort the changes of each row, apply one by one."""

from collections.abc import Iterable
from typing import Any

from changewire.tables import Placed

Key = tuple[tuple[str, Any], ...]
Content = dict[str, dict[Key, dict[str, Any]]]
ALL = "*"
NOTHING = (-(2**70), 0)


def tables_of(changes: Iterable[Placed], *, truncates: bool = False) -> Content:
    """Return the rows of every table by key, after all changes, each of them known beforehand."""
    events: dict[tuple[str, Key], list[Any]] = {}
    everywhere: list[Any] = []
    names: set[str] = set()
    for placed in changes:
        change, position = placed.change, placed.position
        sequence = change.sequence
        major, minor = NOTHING if sequence is None else (sequence.major, sequence.minor)
        order = ((major, minor), position)
        early = ((major, 0 if sequence else minor), position)
        table = change.source.table or ALL
        if change.op == "truncate":
            if truncates:
                everywhere.append((table, None, (order, "delete", change)))
            continue
        if change.key is None:
            continue
        found = [(change.key, order, kind_of(change))]
        if found[0][2] == "before":
            found = [(change.key, early, "delete")]
        if change.before_key:
            found.append((change.before_key, early, "delete"))
        for key, when, kind in found:
            if table == ALL:
                everywhere.append((ALL, key_of(key), (when, kind, change)))
            else:
                names.add(table)
                events.setdefault((table, key_of(key)), []).append((when, kind, change))
    for (table, key), mine in events.items():
        mine += [e for t, k, e in everywhere if t in {table, ALL} and k in {key, None}]
    rows = {place: row_of(mine) for place, mine in events.items()}
    return {
        name: {key: row for (table, key), row in rows.items() if table == name and row is not None}
        for name in names
    }


def kind_of(change: Any) -> str:
    """Return what a change does: full, patch, keys, delete, or before."""
    image = change.attributes.get("image", "full")
    if change.op == "delete":
        return "delete"
    if change.op == "update" and change.after is None and change.before is not None:
        return "before" if image == "full" else "nothing"
    return image if change.after is not None else "keys"


def row_of(events: list[Any]) -> dict[str, Any] | None:
    """Return a row after its events, oldest first."""
    row: dict[str, Any] | None = None
    for _, kind, change in sorted(events, key=lambda event: event[0]):
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
        if row is not None and kind != "delete":
            row |= change.key
    return row


def key_of(key: dict[str, Any]) -> Key:
    """Return a key as a dictionary takes it."""
    return tuple(sorted(key.items()))
