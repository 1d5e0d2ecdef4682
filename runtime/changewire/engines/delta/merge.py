"""The changes of a batch, merged into one table by delta-rs."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from msgspec import Struct, field
from msgspec.structs import replace

from changewire.engines.delta.columns import TOMBSTONES
from changewire.engines.delta.held import (
    HeldRow,
    held_rows,
    held_tombstones,
    patched_rows,
    wanted_keys,
)
from changewire.engines.delta.queries import older_than
from changewire.engines.delta.shapes import JSON, Shape
from changewire.engines.delta.tables import (
    NEXT_VERSION,
    DeltaTables,
    is_newest,
    reported,
    set_property,
    tables_of,
)
from changewire.engines.delta.writing import merge_rows
from changewire.engines.json_rows import KEY
from changewire.engines.kept import TRUNCATED, TableHistory, as_pairs, order_text, order_value
from changewire.engines.retries import Written, retried, write_until_final
from changewire.engines.typed.mutations import FittedMutations, Row
from changewire.tables.batch import decide_rows, without_changes
from changewire.tables.merge import Stored
from changewire.tables.metadata import COLUMN, metadata_of, state_from
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal
from changewire.tables.state import State


class DeltaDecisions(Struct):
    """What becomes of a table.

    Attributes:
        tables: The table and its tombstones, as they were read.
        named: Columns of keys, by their texts.
        counts: What became of the changes, as `changewire.tables.Result.counts` has it.
        tombstones: Tombstones to append.
        written: Rows to write, with the columns of the table.
        removed: Keys of rows to remove, by their columns.
        failures: Why changes cannot be applied, by their rows in the batch.
    """

    tables: DeltaTables
    named: dict[str, Row]
    counts: Counter[str] = field(default_factory=Counter)
    tombstones: list[dict[str, Any]] = field(default_factory=list)
    written: list[Row] = field(default_factory=list)
    removed: list[Row] = field(default_factory=list)
    failures: dict[int, Refusal] = field(default_factory=dict)

    def take(self, key: str, stored: Stored, after: State | None) -> None:
        """Take what a row becomes."""
        is_row = after is not None and after.values is not None
        if after is not None:
            metadata = as_pairs(metadata_of(after))
            if after.values is None:
                self.tombstones.append({KEY: key, COLUMN: metadata})
            else:
                row = self.tables.shape.row(key, after.values)
                self.written.append({**row, **self.named[key], COLUMN: metadata})
        if stored.row is not None and not is_row:
            self.removed.append(self.named[key])


class DeltaMerge(Struct, frozen=True):
    """What a batch does to one table; see `changewire.tables.planner.TableMerge`.

    Attributes:
        found: What it does to rows.
        target: Folder of the table.
        shape: How the table has its rows; None while its columns are not known, and there is
            nothing but deletes.
        truncate: Order of the newest truncate that the batch has for the table.
        history: Where the run keeps the versions of the table's rows; None if it keeps none.
    """

    found: FittedMutations
    target: str
    shape: Shape | None = JSON
    truncate: Order = OLDEST
    history: TableHistory | None = None

    def decide(self) -> DeltaDecisions:
        """Decide what each row of the table becomes; the table is made if it is not there.

        Memory holds the mutations, the rows and tombstones of their keys, and what delta-rs needs
        to join them with the files that it rewrites; after a truncate also the rows that patches
        made.

        Raises:
            ConflictError: Other writers did not let it be made.
            OutputError: The table has other columns, or is not for delta-rs to write.
        """
        return retried(self.target, lambda: _decided(self, self.tables()))

    def tables(self) -> DeltaTables:
        """Return the table and its tombstones; see `tables_of`."""
        return tables_of(self.target, self.shape, self.history)

    def failures(self, decisions: DeltaDecisions) -> dict[int, Refusal] | None:
        """Return why changes cannot be applied."""
        return {**self.found.misfits, **decisions.failures} or None

    def without(self, failures: dict[int, Refusal]) -> DeltaMerge:
        """Return what the batch does without some changes."""
        mutations = without_changes(self.found.mutations, failures)
        misfits = {i: why for i, why in self.found.misfits.items() if i not in failures}
        found = self.found._replace(mutations=mutations, misfits=misfits)
        return replace(self, found=found)

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
    tables = merge.tables()
    table, tombstones = tables.table, tables.tombstones
    if merge.truncate > OLDEST:
        if merge.truncate > _kept_truncate(tombstones):
            set_property(tombstones, TRUNCATED, order_text(merge.truncate))
        if table is not None:
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
    decisions = DeltaDecisions(tables, dict(merge.found.named))
    stored, floor = _stored(merge, decisions), _floor(merge, tables.tombstones)
    found = decide_rows(stored, merge.found.mutations, floor, decisions.take)
    decisions.counts, decisions.failures = found
    return decisions


def _stored(merge: DeltaMerge, decisions: DeltaDecisions) -> dict[str, Stored]:
    """Return what a table has of the keys that mutations, or a truncate, concern."""
    tables, named = decisions.tables, decisions.named
    found: dict[str, Stored] = {key: Stored() for key in merge.found.mutations}
    shape, keys = tables.shape, [*found]

    def add(row: HeldRow) -> None:
        key = shape.key_text(row.columns) if row.number is None else keys[row.number]
        named.setdefault(key, {name: row.columns[name] for name in shape.keys})
        state = state_from(row.columns[COLUMN], shape.values(row.columns))
        found.setdefault(key, Stored()).row = state

    with wanted_keys([(key, named[key]) for key in keys], shape) as wanted:
        for row in held_rows(tables, wanted) if keys else ():
            add(row)
        for number, metadata in held_tombstones(tables, wanted) if keys else ():
            found[keys[number]].add_tombstone(state_from(metadata, None))
        for row in patched_rows(tables, wanted) if merge.truncate > OLDEST else ():
            add(row)
    return found


def _write(decisions: DeltaDecisions) -> Written:
    """Write what was decided.

    Raises:
        WriteConflictError: Another writer came first.
    """
    tables = decisions.tables
    if not decisions.tombstones and not decisions.written and not decisions.removed:
        return Written(is_whole=True, is_final=True)
    if decisions.tombstones:
        write_tombstones(decisions.tombstones, tables.tombstones)
    if decisions.written or decisions.removed:
        write_rows(decisions.written, decisions.removed, tables)
    return Written(is_whole=True, is_final=all(map(is_newest, tables.both())))


def write_tombstones(found: list[dict[str, Any]], tombstones: DeltaTable) -> None:
    """Append tombstones; one that is there twice does no harm.

    Raises:
        WriteConflictError: Another writer changed the table's properties.
    """
    since = datetime.now(timezone.utc)
    rows = pa.Table.from_pylist([{**one, "since": since} for one in found], TOMBSTONES)
    with reported(tombstones.table_uri):
        write_deltalake(tombstones, rows, mode="append")


def write_rows(written: list[Row], removed: list[Row], tables: DeltaTables) -> None:
    """Write and remove rows of a table that is still as it was read.

    Raises:
        WriteConflictError: It is not.
    """
    table, shape = tables.table, tables.shape
    if table is not None:
        merge_rows(table, shape.schema, shape.keys, written=written, removed=removed)
