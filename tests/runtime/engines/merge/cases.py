"""How the examples of the page of tables are delivered: in any order and any batches."""

from __future__ import annotations

from docs.making.histories import History, change
from msgspec.structs import replace
from tests.runtime.tables.histories import placed, with_keys

from changewire.tables import PositionedChange

Batches = list[list[PositionedChange]]


def deliveries(history: History, most: int | None = None) -> dict[str, Batches]:
    """Return a history forwards and backwards, as one batch and one by one.

    With `most`, the last of so many batches has all changes that are left.
    """
    read = placed(*map(change, history.changes))
    found = {"forwards": [read], "one by one": _one_by_one(read, most)}
    if all(row["sequence"] for row in history.changes):
        back = read[::-1]
        found |= {"backwards": [back], "backwards one by one": _one_by_one(back, most)}
    return found


def _one_by_one(changes: list[PositionedChange], most: int | None) -> Batches:
    alone = len(changes) if most is None else most - 1
    last = changes[alone:]
    return [*([one] for one in changes[:alone]), *([last] if last else [])]


def delivered(name: str, batches: Batches, number: int) -> Batches:
    """Return batches with keys, and for truncates that come later a table, of their own."""
    table = "t"
    if "truncate" in name:
        table = f"truncate{number}" if len(batches) > 1 else "truncated"
    found: Batches = []
    for batch in batches:
        found.append([])
        for one in batch:
            own = with_keys(one, lambda key: f"{number}-{key}")
            # A database of their own: the images of an update are looked for in theirs alone.
            source = replace(own.change.source, database="page", table=table)
            position = own.position._replace(partition=number)
            found[-1].append(
                replace(own, change=replace(own.change, source=source), position=position)
            )
    return found
