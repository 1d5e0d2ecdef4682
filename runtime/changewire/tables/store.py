"""Tables in memory: their rows, tombstones and floors."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from changewire.tables.keys import Identity
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Namespace
from changewire.tables.state import Row, State, joined, tombstone


class Entry(Struct, frozen=True):
    """A row or a tombstone.

    Attributes:
        key: Columns that name the row.
        state: The rest of it.
        since: When it was written here.
    """

    key: Row
    state: State
    since: datetime


class Table(Struct):
    """One table.

    Attributes:
        target: Its name, and what it was made of.
        rows: Its rows.
        graves: Tombstones of rows that left it.
        truncated: Order of its newest truncate; nothing older comes back.
    """

    target: Target
    rows: dict[Identity, Entry] = field(default_factory=dict)
    graves: dict[Identity, Entry] = field(default_factory=dict)
    truncated: Order = OLDEST

    def content(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries of columns, the key's among them."""
        for entry in self.rows.values():
            yield {**entry.key, **(entry.state.values or {})}

    def row(self, identity: Identity) -> State | None:
        """Return the row of a key."""
        entry = self.rows.get(identity)
        return None if entry is None else entry.state

    def grave(self, identity: Identity) -> State | None:
        """Return the tombstone of a key."""
        entry = self.graves.get(identity)
        return None if entry is None else entry.state

    def held(self, identity: Identity) -> State | None:
        """Return what is known of a key: its row or its tombstone, the newer one of both."""
        row, grave = self.row(identity), self.grave(identity)
        return row or grave if row is None or grave is None else joined(row, grave)

    def put(self, identity: Identity, entry: Entry) -> None:
        """Set what is known of a key."""
        old, new = (self.rows, self.graves)[:: -1 if entry.state.values is not None else 1]
        old.pop(identity, None)
        new[identity] = entry

    def truncate(self, order: Order) -> None:
        """Remove what is older than a truncate, and let nothing older come back."""
        self.truncated = max(self.truncated, order)
        for identity, entry in [*self.rows.items()]:
            state = joined(entry.state, tombstone(self.truncated))
            if state.values is None:
                del self.rows[identity]
            else:
                self.rows[identity] = replace(entry, state=state)


class Tables(Struct):
    """All tables that a stream of changes feeds.

    Attributes:
        tables: By their targets' `Target.folded`.
        members: Targets by the namespace of their sources.
        graves: Deletes that name no table, for tables that are not known yet, by namespace.
    """

    tables: dict[str, Table] = field(default_factory=dict)
    members: dict[Namespace, list[Target]] = field(default_factory=dict)
    graves: dict[Namespace, dict[Identity, Entry]] = field(default_factory=dict)

    def has_other(self, target: Target) -> bool:
        """Whether another table has a name that some catalogs would not tell from a target's."""
        table = self.tables.get(target.folded)
        return table is not None and table.target != target

    def declare(self, target: Target, namespace: Namespace) -> Table:
        """Return the table of a target, a new one if there is none.

        Deletes that named no table hold for the tables of a namespace that come to be known later
        as well.

        Args:
            target: Its name.
            namespace: Where changes for it come from.
        """
        table = self.tables.setdefault(target.folded, Table(target))
        members = self.members.setdefault(namespace, [])
        if target not in members:
            members.append(target)
            for identity, entry in self.graves.get(namespace, {}).items():
                bury(table, identity, entry)
        return table


def bury(table: Table, identity: Identity, entry: Entry) -> None:
    """Let a tombstone hold for a table that did not see its delete."""
    held = table.held(identity)
    state = entry.state if held is None else joined(held, entry.state)
    if state != held:
        table.put(identity, replace(entry, state=state))


def vacuum(tables: Tables, older_than: datetime) -> int:
    """Remove tombstones; return how many.

    What is older than a delete and comes after its tombstone was removed brings the row back.

    Args:
        tables: The tables.
        older_than: Tombstones that were written before it go.
    """
    removed = 0
    for graves in (*(t.graves for t in tables.tables.values()), *tables.graves.values()):
        old = [identity for identity, entry in graves.items() if entry.since < older_than]
        for identity in old:
            del graves[identity]
        removed += len(old)
    return removed
