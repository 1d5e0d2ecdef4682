"""What became of the changes of each table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

from changewire.changes.sources import dotted
from changewire.engines.counts import OTHER_TABLES
from changewire.tables.names import Target
from changewire.tables.routing import RouteKey, goes_to_all

MOST_NAMES: Final = 1000
"""Tables, or columns of a table, that are named at most."""

OTHER_COLUMNS: Final = "(other columns)"


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
    """What became of the changes of one table.

    ``changes + moved + unexplained`` is the sum of ``before_images``, ``inserted``, ``updated``,
    ``deleted``, ``merged``, ``replaced``, ``not_newer``, ``refused`` and ``key_missing``.

    Attributes:
        changes: How many there were, with truncates that were refused.
        refused: How many of them the table refused; the log says why.
        key_missing: How many of them have no key; they are in no table.
        first_refusal: Why the first of them was refused; None if none was.
        moved: Rows that left their key: the change deletes one row and writes another.
        before_images: Before images that came as messages of their own, and changes that say
            nothing of a row.
        inserted: Rows that were added.
        updated: Rows that were replaced; not those that a truncate changed.
        deleted: Rows that were removed, or got a flag; not those that truncates removed.
        merged: Changes that were merged into a table whose format does not say what became of them.
        replaced: Changes that another one made void before the table was asked: a newer change of
            their row in the batch, or a delete or truncate in the log.
        not_newer: Changes that the table did not need: its row was as new, or a delete found none.
            Those that were replaced are among them if Spark does not tell (Spark Connect).
        unexplained: Rows that changed, and more of them than there were changes: the table has a
            row twice.
        rescued: Values that were rescued, by their columns.
    """

    changes: int = 0
    refused: int = 0
    key_missing: int = 0
    first_refusal: FirstRefusal | None = None
    moved: int = 0
    before_images: int = 0
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    merged: int = 0
    replaced: int = 0
    not_newer: int = 0
    unexplained: int = 0
    rescued: Mapping[str, int] = {}

    @property
    def unapplied(self) -> int:
        """How many changes are in no table."""
        return self.refused + self.key_missing

    @property
    def is_lost(self) -> bool:
        """Whether there were changes, and all of them are in no table."""
        return 0 < self.changes <= self.unapplied

    def numbers(self) -> dict[str, Any]:
        """Return the numbers that are not 0, by their names."""
        found = {name: getattr(self, name) for name in TableChanges._fields if name in _NUMBERS}
        found["rescued"] = dict(self.rescued)
        return {name: number for name, number in found.items() if number}

    def plus(self, other: TableChanges) -> TableChanges:
        """Return what became of these changes and of later ones."""
        rescued = {**self.rescued}
        for name, number in other.rescued.items():
            add_named(rescued, name, number, OTHER_COLUMNS)
        sums = {name: getattr(self, name) + getattr(other, name) for name in _NUMBERS}
        first = self.first_refusal or other.first_refusal
        return TableChanges(**sums, first_refusal=first, rescued=rescued)

    def as_merged(self, merged: MergedRows) -> TableChanges:
        """Return what became of changes that were merged into one table."""
        rest = self.changes + self.moved - self.before_images - self.unapplied
        found = self._replace(rescued=merged.rescued)
        if merged.rows is None:
            return found._replace(merged=max(rest, 0))
        rows = Counter(merged.rows)
        rest -= rows.total()
        if merged.is_truncated and rest < 0:
            # A truncate removes what is older than it from rows that were patched.
            rows["updated"] += rest
            rest = 0
        left = max(rest, 0)
        stayed = left if merged.asked is None else merged.asked - rows.total()
        not_newer = min(max(stayed, 0), left)
        return found._replace(
            inserted=rows["inserted"],
            updated=rows["updated"],
            deleted=rows["deleted"],
            replaced=left - not_newer,
            not_newer=not_newer,
            unexplained=max(-rest, 0),
        )


BECAME: Final[Mapping[str, str]] = {
    "inserted": "inserted",
    "updated": "updated",
    "deleted": "deleted",
    "merged": "merged",
    "replaced": "replaced",
    "not_newer": "not newer",
    "before_images": "before images",
    "refused": "refused",
    "key_missing": "without a key",
    "moved": "moved",
    "unexplained": "more rows than changes",
}
"""What became of changes, in words; the last two are not among them."""

_NUMBERS: Final = frozenset(TableChanges._fields) - {"first_refusal", "rescued"}


class MergedRows(NamedTuple):
    """What a MERGE did to a table.

    Attributes:
        rows: How many rows were ``inserted``, ``updated`` and ``deleted``; None if the format of
            the table does not say it.
        asked: How many rows the changes were for, one for each key; None if that is not known.
        is_truncated: Whether a truncate came in the same batch.
        rescued: Values that were rescued, by their columns.
    """

    rows: Mapping[str, int] | None
    asked: int | None = None
    is_truncated: bool = False
    rescued: Mapping[str, int] = {}


def add_named(counts: dict[str, int], name: str, number: int, others: str) -> None:
    """Add a number by a name; a hostile stream has as many names as it likes."""
    place = name if name in counts or len(counts) < MOST_NAMES else others
    counts[place] = counts.get(place, 0) + number


class ChangesByTable(dict[str, TableChanges]):
    """What became of changes, by the names of tables.

    A table has the name of its source, joined by dots. If it takes changes of several sources, it
    has the name of its target's fields.
    """

    def add(self, name: str, found: TableChanges) -> None:
        """Add changes of a table."""
        place = name if name in self or len(self) < MOST_NAMES else OTHER_TABLES
        self[place] = self.get(place, TableChanges()).plus(found)

    def renamed(self, name_of: Callable[[str], str]) -> ChangesByTable:
        """Return the same with other names; those that become the same are counted together."""
        found = ChangesByTable()
        for name, one in self.items():
            found.add(name_of(name), one)
        return found

    def add_all(self, others: Mapping[str, TableChanges]) -> None:
        """Add changes of several tables, such as those of a batch."""
        for name, found in others.items():
            self.add(name, found)


def changes_by_table(
    changes: Mapping[RouteKey, TableChanges],
    merged: Mapping[Target, tuple[list[RouteKey], MergedRows]],
    name_of: Callable[[Target, list[RouteKey]], str],
) -> ChangesByTable:
    """Return what became of the changes of a batch, by table.

    Args:
        changes: The changes by where they come from.
        merged: What was merged into each table, and where it came from.
        name_of: Returns the name of a table.

    A delete of a row in all tables of a database is among the changes of each of them; if one of
    them refuses it, it is also among those of the database.
    """
    found, nothing = ChangesByTable(), TableChanges()
    taken = {key for keys, _ in merged.values() for key in keys}
    for key, one in changes.items():
        if key not in taken:
            found.add(dotted(key[0]), one.as_merged(MergedRows({})))
        elif one.refused and goes_to_all(key[1], key[0]):
            refused = TableChanges(one.refused, one.refused, first_refusal=one.first_refusal)
            found.add(dotted(key[0]), refused)
    for target, (keys, rows) in merged.items():
        each = (_of_one_table(key, changes[key]) for key in keys if key in changes)
        every = reduce(TableChanges.plus, each, nothing)
        found.add(name_of(target, keys), every.as_merged(rows))
    return found


def _of_one_table(key: RouteKey, found: TableChanges) -> TableChanges:
    if not goes_to_all(key[1], key[0]):
        return found
    return found._replace(refused=0, first_refusal=None)


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
        by_table: By table.
        unmatched: Names in options that no table has so far.
    """

    counts: Mapping[str, int] = {}
    by_table: ChangesByTable = ChangesByTable()
    unmatched: Sequence[Unmatched] = ()
