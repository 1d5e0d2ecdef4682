"""The changes of a batch, merged into one table by delta-rs."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from msgspec import Struct, field
from msgspec.structs import replace

from changewire.engines.delta.columns import ROWS, TOMBSTONES
from changewire.engines.delta.tables import (
    NEXT_VERSION,
    DeltaTables,
    older_than,
    read,
    reported,
    set_property,
    tables_of,
)
from changewire.engines.json_rows import KEY, ROW, packed, unpacked
from changewire.engines.kept import TRUNCATED, as_pairs, order_text, order_value
from changewire.engines.retries import Written, retried, write_until_final
from changewire.tables.batch import TableMutations, decide_rows, without_changes
from changewire.tables.merge import Stored
from changewire.tables.metadata import COLUMN, metadata_of, state_from
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal
from changewire.tables.state import State

_REMAINS: Final = "remains"
_CHANGED: Final = pa.schema([*ROWS, pa.field(_REMAINS, pa.bool_())])

_ROWS: Final = f'SELECT held."{KEY}", held."{ROW}", held."{COLUMN}" FROM held'  # noqa: S608
_TOMBSTONES: Final = f'SELECT held."{KEY}", held."{COLUMN}" FROM held'  # noqa: S608 - names of ours
_OF_KEYS: Final = f' JOIN wanted ON held."{KEY}" = wanted."{KEY}"'
_PATCHED: Final = (
    f" WHERE held.\"{COLUMN}\"['columns'] IS NOT NULL OR held.\"{COLUMN}\"['floor'] IS NOT NULL"
)


class DeltaDecisions(Struct):
    """What becomes of a table.

    Attributes:
        tables: The table and its tombstones, as they were read.
        counts: What became of the changes, as `changewire.tables.Result.counts` has it.
        tombstones: Tombstones to append.
        changed: Rows to write, and keys of rows to remove, with the columns of `_CHANGED`.
        failures: Why changes cannot be applied, by their rows in the batch.
    """

    tables: DeltaTables
    counts: Counter[str] = field(default_factory=Counter)
    tombstones: list[dict[str, Any]] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[int, Refusal] = field(default_factory=dict)

    def take(self, key: str, stored: Stored, after: State | None) -> None:
        """Take what a row becomes."""
        is_row = after is not None and after.values is not None
        if after is not None:
            metadata = as_pairs(metadata_of(after))
            if after.values is None:
                self.tombstones.append({KEY: key, COLUMN: metadata})
            else:
                row = packed(key, after.values)
                self.changed.append({KEY: key, ROW: row, COLUMN: metadata, _REMAINS: True})
        if stored.row is not None and not is_row:
            self.changed.append({KEY: key, _REMAINS: False})


class DeltaMerge(Struct, frozen=True):
    """What a batch does to one table; see `changewire.tables.planner.TableMerge`.

    Attributes:
        mutations: What it does to rows.
        target: Folder of the table.
        truncate: Order of the newest truncate that the batch has for the table.
    """

    mutations: TableMutations
    target: str
    truncate: Order = OLDEST

    def decide(self) -> DeltaDecisions:
        """Decide what each row of the table becomes; the table is made if it is not there.

        Memory holds the mutations, the rows and tombstones of their keys, and what delta-rs needs
        to join them with the files that it rewrites; after a truncate also the rows that patches
        made.

        Raises:
            ConflictError: Other writers did not let it be made.
            OutputError: The table has other columns, or is not for delta-rs to write.
        """
        return retried(self.target, lambda: _decided(self, tables_of(self.target)))

    def failures(self, decisions: DeltaDecisions) -> dict[int, Refusal] | None:
        """Return why changes cannot be applied."""
        return decisions.failures or None

    def without(self, failures: dict[int, Refusal]) -> DeltaMerge:
        """Return what the batch does without some changes."""
        return replace(self, mutations=without_changes(self.mutations, failures))

    def write(self, decisions: DeltaDecisions) -> Counter[str]:
        """Write what was decided; a retry changes nothing.

        Tombstones are written first. Rows are written as the version after the one that was decided
        on, or not at all.

        Raises:
            ConflictError: Other writers did not let it be done.
            OutputError: The table has other columns, or is not for delta-rs to write.
        """
        has_truncate = self.truncate > OLDEST
        return write_until_final(
            self.target,
            None if has_truncate else decisions,
            decide=lambda: _after_truncate(self),
            write=_write,
        )


def _after_truncate(merge: DeltaMerge) -> DeltaDecisions:
    """Keep the truncate if there is one, remove the rows that are older, and decide on the others.

    Raises:
        WriteConflictError: Another writer came first.
    """
    tables = table, tombstones = tables_of(merge.target)
    if merge.truncate > OLDEST:
        if merge.truncate > _kept_truncate(tombstones):
            set_property(tombstones, TRUNCATED, order_text(merge.truncate))
        with reported(table.table_uri):
            table.delete(older_than(_floor(merge, tombstones)), commit_properties=NEXT_VERSION)
    return _decided(merge, tables)


def _kept_truncate(tombstones: DeltaTable) -> Order:
    return order_value(tombstones.metadata().configuration.get(TRUNCATED))


def _floor(merge: DeltaMerge, tombstones: DeltaTable) -> Order:
    """Return the order of the newest truncate."""
    return max(_kept_truncate(tombstones), merge.truncate)


def _decided(merge: DeltaMerge, tables: DeltaTables) -> DeltaDecisions:
    """Decide on each row that mutations, or a truncate, concern."""
    decisions = DeltaDecisions(tables)
    stored, floor = _stored(merge, tables), _floor(merge, tables.tombstones)
    found = decide_rows(stored, merge.mutations, floor, decisions.take)
    decisions.counts, decisions.failures = found
    return decisions


def _stored(merge: DeltaMerge, tables: DeltaTables) -> dict[str, Stored]:
    """Return what a table has of the keys that mutations, or a truncate, concern."""
    table, tombstones = tables
    found: dict[str, Stored] = {key: Stored() for key in merge.mutations}
    with _wanted([*found]) as wanted:
        for row in read(table, _ROWS + _OF_KEYS, wanted=wanted):
            found[row[KEY]].row = state_from(row[COLUMN], unpacked(row[ROW]))
        for row in read(tombstones, _TOMBSTONES + _OF_KEYS, wanted=wanted):
            found[row[KEY]].add_tombstone(state_from(row[COLUMN], None))
    for row in read(table, _ROWS + _PATCHED) if merge.truncate > OLDEST else ():
        of_key = found.setdefault(row[KEY], Stored())
        of_key.row = state_from(row[COLUMN], unpacked(row[ROW]))
    return found


@contextmanager
def _wanted(keys: list[str]) -> Generator[DeltaTable, None, None]:
    """Give keys as a table that queries can join: delta-rs takes no others."""
    with tempfile.TemporaryDirectory(prefix="changewire-") as folder:
        write_deltalake(folder, pa.table({KEY: pa.array(keys, pa.string())}))
        yield DeltaTable(folder)


def _write(decisions: DeltaDecisions) -> Written:
    """Write what was decided.

    Raises:
        WriteConflictError: Another writer came first.
    """
    table, tombstones = decisions.tables
    if not decisions.tombstones and not decisions.changed:
        return Written(is_whole=True, is_final=True)
    if decisions.tombstones:
        write_tombstones(decisions.tombstones, tombstones)
    if decisions.changed:
        write_rows(decisions.changed, table)
    return Written(is_whole=True, is_final=_is_newest(table) and _is_newest(tombstones))


def write_tombstones(found: list[dict[str, Any]], tombstones: DeltaTable) -> None:
    """Append tombstones; one that is there twice does no harm.

    Raises:
        WriteConflictError: Another writer changed the table's properties.
    """
    since = datetime.now(timezone.utc)
    rows = pa.Table.from_pylist([{**one, "since": since} for one in found], TOMBSTONES)
    with reported(tombstones.table_uri):
        write_deltalake(tombstones, rows, mode="append")


def write_rows(changed: list[dict[str, Any]], table: DeltaTable) -> None:
    """Write and remove rows of a table that is still as it was read.

    Raises:
        WriteConflictError: It is not.
    """
    names = {f'"{name}"': f'rows."{name}"' for name in ROWS.names}
    merger = table.merge(
        pa.Table.from_pylist(changed, _CHANGED),
        f'held."{KEY}" = rows."{KEY}"',
        source_alias="rows",
        target_alias="held",
        streamed_exec=False,
        commit_properties=NEXT_VERSION,
    )
    remains = f'rows."{_REMAINS}"'
    with reported(table.table_uri):
        (
            merger.when_matched_delete(f"NOT {remains}")
            .when_matched_update(names, remains)
            .when_not_matched_insert(names, remains)
            .execute()
        )


def _is_newest(table: DeltaTable) -> bool:
    """Whether no other writer wrote a table since it was written or read here."""
    version = table.version()
    with reported(table.table_uri):
        table.update_incremental()
    return bool(table.version() == version)
