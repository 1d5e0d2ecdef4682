"""Tables in memory: all that is known of them, deleted rows too."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from changewire.changes.identity import Identity
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


Key = TypeVar("Key")
Before = TypeVar("Before")


class KeyedImages(Struct, Generic[Key, Before]):
    """The images of one update that came as two messages.

    A before image says where a row was. Its key is deleted only if the after image of the same
    source and sequence is known and has another key: if that is lost, the row is where it was.

    Attributes:
        befores: Before images by their keys.
        afters: Keys of after images.
    """

    befores: dict[Key, list[Before]] = field(default_factory=dict)
    afters: set[Key] = field(default_factory=set)

    @property
    def has_moved(self) -> bool:
        """Whether the row is known to have another key now."""
        return bool(self.afters - self.befores.keys())

    def gone(self) -> dict[Key, list[Before]]:
        """Return the before images of keys that no after image has."""
        return {key: found for key, found in self.befores.items() if key not in self.afters}

    def moved(self) -> list[Before]:
        """Return those of keys that the row left: none if no other key is known."""
        return [*chain.from_iterable(self.gone().values())] if self.has_moved else []

    def waiting(self) -> int:
        """Return how many keys wait for an after image."""
        return 0 if self.has_moved else len(self.gone())


Images: TypeAlias = KeyedImages[Identity, RowMutation]


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
