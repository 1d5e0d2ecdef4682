"""Tables in memory: all that is known of them, deleted rows too."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from changewire.tables.keys import Identity
from changewire.tables.mutations import RowMutation
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import KnownTables, Namespace
from changewire.tables.state import Row, State, joined
from changewire_messages.change import Source


class Entry(Struct, frozen=True):
    """What is known of a key.

    Attributes:
        key: Columns that name the row.
        state: The rest of it; a state without values if the row is deleted.
    """

    key: Row
    state: State


def add_delete(entries: dict[Identity, Entry], identity: Identity, entry: Entry) -> None:
    """Add a delete to what is known of keys."""
    held = entries.get(identity)
    state = entry.state if held is None else joined(held.state, entry.state)
    entries[identity] = replace(entry, state=state)


class MemoryTable(Struct):
    """One table.

    Attributes:
        target: Its name, and what it was made of.
        entries: What is known of each key; it is never forgotten.
        truncated: Order of its newest truncate; nothing older comes back.
    """

    target: Target
    entries: dict[Identity, Entry] = field(default_factory=dict)
    truncated: Order = OLDEST

    def content(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries of columns, the key's among them."""
        for entry in self.entries.values():
            if entry.state.values is not None:
                yield {**entry.key, **entry.state.values}


Update = tuple[Source, int]
"""Source and first number of the sequence of an update whose images came as two messages."""


class Images(Struct, frozen=True):
    """The images of one update.

    Attributes:
        befores: Deletes of the keys of before images.
        afters: Keys of after images.
    """

    befores: dict[Identity, RowMutation] = field(default_factory=dict)
    afters: frozenset[Identity] = frozenset()

    def with_before(self, deletes: list[RowMutation]) -> "Images":
        """Return the images with one more before image; it deletes one key, or none."""
        found = dict(self.befores)
        for one in deletes:
            old = found.get(one.identity, one)
            found[one.identity] = max(old, one, key=lambda mutation: mutation.position)
        return replace(self, befores=found)

    def with_after(self, writes: list[RowMutation]) -> "Images":
        """Return the images with one more after image."""
        return replace(self, afters=self.afters | {one.identity for one in writes})

    def deletes(self) -> list[RowMutation]:
        """Return the deletes of keys that rows left: none if no other key is known."""
        return self._gone() if self.afters - self.befores.keys() else []

    def waiting(self) -> int:
        """Return how many before images wait for their after images."""
        return 0 if self.afters - self.befores.keys() else len(self._gone())

    def _gone(self) -> list[RowMutation]:
        return [one for identity, one in self.befores.items() if identity not in self.afters]


class MemoryTables(Struct):
    """All tables that a stream of changes feeds.

    Attributes:
        tables: By their targets' `Target.folded`.
        known: The same by their sources.
        deletes: Deletes that name no table, for tables that are not known yet, by namespace.
        updates: Updates whose images came as two messages.
    """

    tables: dict[str, MemoryTable] = field(default_factory=dict)
    known: KnownTables = field(default_factory=KnownTables)
    deletes: dict[Namespace, dict[Identity, Entry]] = field(default_factory=dict)
    updates: dict[Update, Images] = field(default_factory=dict)

    def add(self, target: Target, namespace: Namespace) -> None:
        """Add a missing table; earlier deletes that named no table apply to it."""
        table = self.tables.setdefault(target.folded, MemoryTable(target))
        for identity, entry in self.deletes.get(namespace, {}).items():
            add_delete(table.entries, identity, entry)
