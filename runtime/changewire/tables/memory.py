"""Tables in memory: their rows, tombstones and truncates."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from changewire.tables.keys import Identity
from changewire.tables.merge import Stored
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import KnownTables, Namespace
from changewire.tables.state import Row, State, joined


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


class MemoryTable(Struct):
    """One table.

    Attributes:
        target: Its name, and what it was made of.
        rows: Its rows.
        tombstones: Tombstones of rows that left it.
        truncated: Order of its newest truncate; nothing older comes back.
    """

    target: Target
    rows: dict[Identity, Entry] = field(default_factory=dict)
    tombstones: dict[Identity, Entry] = field(default_factory=dict)
    truncated: Order = OLDEST

    def content(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries of columns, the key's among them."""
        for entry in self.rows.values():
            yield {**entry.key, **(entry.state.values or {})}

    def stored(self, identity: Identity) -> Stored:
        """Return what is known of a key."""
        found = (self.rows.get(identity), self.tombstones.get(identity))
        return Stored(*(None if entry is None else entry.state for entry in found))

    def put(self, identity: Identity, entry: Entry | None) -> None:
        """Set what is known of a key; None removes its row and leaves its tombstone."""
        self.rows.pop(identity, None)
        if entry is not None:
            self.tombstones.pop(identity, None)
            is_row = entry.state.values is not None
            (self.rows if is_row else self.tombstones)[identity] = entry

    def add_tombstone(self, identity: Identity, entry: Entry) -> None:
        """Take a tombstone of a delete that came before the table was known."""
        held = self.stored(identity).newest
        state = entry.state if held is None else joined(held, entry.state)
        if state != held:
            self.put(identity, replace(entry, state=state))


class MemoryTables(Struct):
    """All tables that a stream of changes feeds.

    Attributes:
        tables: By their targets' `Target.folded`.
        known: The same by their sources.
        tombstones: Deletes that name no table, for tables that are not known yet, by namespace.
    """

    tables: dict[str, MemoryTable] = field(default_factory=dict)
    known: KnownTables = field(default_factory=KnownTables)
    tombstones: dict[Namespace, dict[Identity, Entry]] = field(default_factory=dict)

    def add(self, target: Target, namespace: Namespace) -> None:
        """Add a table if it is not there; deletes hold for it that named no table before."""
        table = self.tables.setdefault(target.folded, MemoryTable(target))
        for identity, entry in self.tombstones.get(namespace, {}).items():
            table.add_tombstone(identity, entry)


def vacuum(tables: MemoryTables, older_than: datetime) -> int:
    """Remove tombstones; return how many.

    What is older than a delete and comes after its tombstone was removed brings the row back.

    Args:
        tables: The tables.
        older_than: Tombstones that were written before it go.
    """
    removed = 0
    of_tables = (table.tombstones for table in tables.tables.values())
    for tombstones in (*of_tables, *tables.tombstones.values()):
        old = [identity for identity, entry in tombstones.items() if entry.since < older_than]
        for identity in old:
            del tombstones[identity]
        removed += len(old)
    return removed
