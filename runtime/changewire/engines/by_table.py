"""How many changes of each table of the source there were, and how many of them no table took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from changewire.engines.counts import OTHER_TABLES

_MOST: Final = 1000
"""Tables that are named at most; a hostile stream has as many as it likes."""


class FirstRefusal(NamedTuple):
    """Why the first refused change of a table was refused.

    Attributes:
        code: Code of the reason.
        message: The reason, without values.
        key_columns: Columns of the change's key.
    """

    code: str
    message: str
    key_columns: Sequence[str]


class TableChanges(NamedTuple):
    """What became of the changes of one table of the source.

    Attributes:
        changes: How many there were, with truncates that were refused.
        refused: How many of them no table took; the log says why.
        key_missing: How many of them have no key; they are in no table.
        first_refusal: Why the first of them was refused; None if none was.
    """

    changes: int = 0
    refused: int = 0
    key_missing: int = 0
    first_refusal: FirstRefusal | None = None

    @property
    def unapplied(self) -> int:
        """How many changes are in no table."""
        return self.refused + self.key_missing

    @property
    def is_lost(self) -> bool:
        """Whether there were changes, and all of them are in no table."""
        return 0 < self.changes <= self.unapplied

    def plus(self, other: TableChanges) -> TableChanges:
        """Return what became of these changes and of later ones."""
        return TableChanges(
            self.changes + other.changes,
            self.refused + other.refused,
            self.key_missing + other.key_missing,
            self.first_refusal or other.first_refusal,
        )


class ChangesByTable(dict[str, TableChanges]):
    """What became of changes, by the names of the tables of the source, joined by dots."""

    def add(self, name: str, found: TableChanges) -> None:
        """Add changes of a table."""
        place = name if name in self or len(self) < _MOST else OTHER_TABLES
        self[place] = self.get(place, TableChanges()).plus(found)

    def add_all(self, others: Mapping[str, TableChanges]) -> None:
        """Add changes of several tables, such as those of a batch."""
        for name, found in others.items():
            self.add(name, found)


class Unmatched(NamedTuple):
    """Names in an option that no table has.

    Attributes:
        option: The option, such as ``row_schema``.
        names: The names, or globs, that no table has.
        tables: The first names of tables.
    """

    option: str
    names: Sequence[str]
    tables: Sequence[str]

    def __str__(self) -> str:
        """Return a sentence for people."""
        named = ", ".join(self.names)
        there = f"tables are: {', '.join(self.tables)}" if self.tables else "there are no tables"
        return f"`{self.option}` names {named}, and no table has such a name; {there}"


class Applied(NamedTuple):
    """What became of the changes of a batch in tables.

    Attributes:
        counts: In all tables, see `changewire.engines.applied.COUNTED`.
        by_table: By the tables of the source.
        unmatched: Names in options that no table has so far.
    """

    counts: Mapping[str, int] = {}
    by_table: Mapping[str, TableChanges] = {}
    unmatched: Sequence[Unmatched] = ()
