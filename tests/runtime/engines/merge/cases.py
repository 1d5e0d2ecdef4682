"""How the examples of the page of tables are delivered: in any order and any batches."""

from __future__ import annotations

from docs.making.histories import History, change
from msgspec.structs import replace
from tests.runtime.tables.histories import placed, with_keys

from changewire.tables import PositionedChange

Batches = list[list[PositionedChange]]


def deliveries(history: History) -> dict[str, Batches]:
    """Return a history forwards and backwards, as one batch and one by one."""
    read = placed(*map(change, history.changes))
    one_by_one = [[one] for one in read]
    found = {"forwards": [read], "one by one": one_by_one}
    if all(row["sequence"] for row in history.changes):
        found |= {"backwards": [read[::-1]], "backwards one by one": one_by_one[::-1]}
    return found


def delivered(name: str, batches: Batches, number: int) -> Batches:
    """Return batches with keys, and for truncates a table, that no other delivery has."""
    table = f"truncate{number}" if "truncate" in name else "t"
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
