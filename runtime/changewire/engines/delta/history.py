"""The table of versions beside a table, written by delta-rs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from msgspec import Struct, field

from changewire.engines.changelog.logged import LoggedChange, keyed_mutations, paired, truncates_of
from changewire.engines.changelog.versions import ENDS, plain_rows, version_columns
from changewire.engines.delta.held import wanted_keys
from changewire.engines.delta.history_tables import VersionTables, version_tables
from changewire.engines.delta.queries import read_batches
from changewire.engines.delta.shapes import JSON, Shape
from changewire.engines.delta.tables import reported
from changewire.engines.delta.writing import HELD, ROWS, merge_rows
from changewire.engines.json_rows import KEY, unpacked
from changewire.engines.kept import TableHistory
from changewire.engines.retries import Written, write_until_final
from changewire.engines.typed.mutations import (
    FittedMutations,
    Row,
    mutation_without_key,
    without_key,
)
from changewire.tables.batch import KeyedMutation
from changewire.tables.metadata import COLUMN, fields_of
from changewire.tables.mutations import DELETE
from changewire.tables.routing import TRUNCATE
from changewire.tables.version_changes import (
    Metadata,
    NotedOrder,
    VersionChanges,
    VersionWrite,
    version_changes,
)
from changewire.tables.version_rows import ChangeNote, order_of
from changewire_messages.tables.arrow import ORDER_FIELDS

_KEPT_DELETE: Final = ChangeNote(DELETE, None)
"""Of deletes that came before their table: the checkpoint does not keep their times."""

_ALL: Final = "SELECT * FROM held"
_OF_KEYS: Final = f'{_ALL} WHERE "{KEY}" IS NULL OR "{KEY}" IN (SELECT "text" FROM wanted)'  # noqa: S608


class _Known(Struct):
    """What tables of versions have of a row.

    Attributes:
        versions: Its versions: their metadata, and the columns of the row but its key.
        ends: Its deletes that are kept.
    """

    versions: list[tuple[Metadata, Row]] = field(default_factory=list)
    ends: list[NotedOrder] = field(default_factory=list)


class _Decisions(NamedTuple):
    """What becomes of the versions of a table.

    Attributes:
        tables: The tables, as they were read.
        ends: Deletes and truncates to append.
        writes: Versions to write or to remove, with their key: its text, and its columns.
        counts: How many versions began, ended, and so on, as `VersionWrite.effect`.
    """

    tables: VersionTables
    ends: list[Row]
    writes: list[tuple[str, Row, VersionWrite]]
    counts: Counter[str]


class DeltaHistory(Struct, frozen=True):
    """What a batch does to the versions of the rows of one table.

    Attributes:
        found: What its changes do to rows.
        notes: What is noted of these changes, by their numbers.
        truncates: Truncates of the table.
        place: Where versions are kept.
        shape: How the table has its rows; None while its columns are not known.
    """

    found: FittedMutations
    notes: list[ChangeNote]
    truncates: list[NotedOrder]
    place: TableHistory
    shape: Shape | None

    def write(self) -> Counter[str]:
        """Write the versions of the rows that the batch concerns; a retry changes nothing.

        Deletes are written first. Versions are written as the version of their table after the one
        that was decided on, or not at all.

        Returns:
            How many versions began, ended, and so on, as `VersionWrite.effect`.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: A table has other columns, or is not for delta-rs to write.
        """
        return write_until_final(self.place.table, None, decide=self._decided, write=_write)

    def _decided(self) -> _Decisions:
        tables = version_tables(self.place, self.shape)
        known, kept = self._known(tables)
        new = [one for one in self.truncates if one not in kept]
        made = _Decisions(tables, [*map(_end, new)], [], Counter())
        for key in {**self.found.mutations, **(known if self.truncates else {})}:
            changes = self._changes(key, known.get(key) or _Known(), [*kept, *new])
            made.ends.extend({KEY: key, **end} for end in changes.ends)
            for write in changes.writes:
                made.writes.append((key, self.found.named[key], write))
                if write.effect is not None:
                    made.counts[write.effect] += 1
        return made

    def _changes(self, key: str, known: _Known, truncates: list[NotedOrder]) -> VersionChanges:
        names = unpacked(key)
        batch = (
            (mutation_without_key(names, one.mutation), self._note(one.number))
            for one in self.found.mutations.get(key, ())
        )
        return version_changes(batch, known.versions, known.ends, truncates)

    def _note(self, number: int | None) -> ChangeNote:
        return _KEPT_DELETE if number is None else self.notes[number]

    def _known(self, tables: VersionTables) -> tuple[dict[str, _Known], list[NotedOrder]]:
        """Return what tables have of the keys of the batch, or of all, and the truncates."""
        shape, named, is_all = tables.shape, self.found.named, bool(self.truncates)
        keys = [(key, named[key]) for key in self.found.mutations]
        found: dict[str, _Known] = {}
        truncates: list[NotedOrder] = []
        with wanted_keys(keys, shape) as wanted:
            query = _ALL if is_all else _OF_KEYS
            for row in _plain(tables.ends, query, wanted=wanted.table):
                end = order_of(row), ChangeNote(row["op"], row["event_time"])
                if row[KEY] is None:
                    truncates.append(end)
                else:
                    found.setdefault(row[KEY], _Known()).ends.append(end)
            if tables.versions is None:
                return found, truncates
            of_keys = f" JOIN wanted ON {wanted.is_same}"
            query = f"SELECT held.* FROM held{'' if is_all else of_keys}"  # noqa: S608 - quoted
            for row in _plain(tables.versions, query, wanted=wanted.table):
                columns = {name: row[name] for name in shape.keys}
                key = shape.key_text(columns)
                named.setdefault(key, columns)
                version = row[COLUMN], without_key(unpacked(key), shape.values(row))
                found.setdefault(key, _Known()).versions.append(version)
        return found, truncates


def delta_history(
    changes: Iterable[LoggedChange],
    earlier: Iterable[KeyedMutation],
    place: TableHistory,
    shape: Shape | None,
) -> DeltaHistory:
    """Return what changes and truncates of a table do to the versions of its rows.

    Args:
        changes: Changes and truncates, as a change log has them.
        earlier: Deletes that came before the table was known.
        place: Where versions are kept.
        shape: How the table has its rows; None while its columns are not known.
    """
    every = [*changes]
    read = [*paired(one for one in every if one.change.op != TRUNCATE)]
    found = keyed_mutations(read)
    for delete in earlier:
        found.setdefault(delete.key, []).append(delete)
    fitted = (shape or JSON).fitted(found, [one.after for one in read])
    truncates = [*truncates_of(every)]
    return DeltaHistory(fitted, [one.note for one in read], truncates, place, shape)


def _plain(table: DeltaTable, query: str, **others: DeltaTable) -> Iterator[dict[str, Any]]:
    return plain_rows(read_batches(table, query, **others))


def _end(truncate: NotedOrder) -> Row:
    order, note = truncate
    return {KEY: None, **fields_of(order), **note._asdict()}


def _write(decided: _Decisions) -> Written:
    """Write what was decided, deletes first.

    Raises:
        WriteConflictError: Another writer came first.
    """
    tables = decided.tables
    if decided.ends:
        with reported(tables.ends.table_uri):
            rows = pa.Table.from_pylist(decided.ends, ENDS)
            write_deltalake(tables.ends, rows, mode="append")
    if decided.writes and tables.versions is not None:
        _merge(decided, tables.versions)
    is_final = not (decided.ends or decided.writes) or tables.are_newest()
    return Written(is_whole=True, is_final=is_final)


def _merge(decided: _Decisions, table: DeltaTable) -> None:
    """Write and remove versions of a table that is still as it was read.

    Raises:
        WriteConflictError: It is not.
    """
    tables = decided.tables
    written, removed = (
        [
            _columns(tables, key, named, write)
            for key, named, write in decided.writes
            if (write.values is None) == is_gone
        ]
        for is_gone in (False, True)
    )
    merge_rows(
        table,
        tables.schema,
        tables.shape.keys,
        written=written,
        removed=removed,
        others=_SAME_CHANGE,
    )


def _columns(tables: VersionTables, key: str, named: Row, write: VersionWrite) -> Row:
    """Return the columns of a version."""
    row = {} if write.values is None else tables.shape.row(key, write.values)
    return {**row, **named, **version_columns(write.metadata, tables.names)}


def _fields(kind: Any, path: str = "") -> Iterator[str]:
    """Yield the fields of a struct as SQL names them, and theirs."""
    for one in kind:
        name = f"{path}['{one.name}']"
        yield from _fields(one.type, name) if pa.types.is_struct(one.type) else (name,)


_SAME_CHANGE: Final = tuple(
    f'({HELD}."{COLUMN}"{name} IS NOT DISTINCT FROM {ROWS}."{COLUMN}"{name})'
    for name in _fields(ORDER_FIELDS)
)
"""Conditions that two versions began with the same change."""
