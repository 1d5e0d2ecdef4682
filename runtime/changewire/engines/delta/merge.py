"""The changes of a batch, merged into one table by delta-rs."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError
from msgspec import Struct, field

from changewire.engines.delta.columns import ROWS, TOMBSTONES
from changewire.engines.delta.older import older_than
from changewire.engines.delta.places import (
    NEXT_VERSION,
    Place,
    place_of,
    read,
    set_property,
    told,
)
from changewire.engines.json_rows import KEY, ROW, packed, unpacked
from changewire.engines.kept import TRUNCATED, as_pairs, order_text, order_value
from changewire.engines.retries import conflict, tries
from changewire.tables.effects import Effect
from changewire.tables.merge import merged
from changewire.tables.metadata import COLUMN, metadata_of, state_from
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal, apply_failed
from changewire.tables.state import State, joined


class BatchEffect(NamedTuple):
    """What a change of a batch does to a row.

    Attributes:
        key: The row's key as `key_text`.
        effect: What it does.
        number: Row of the change in the batch; None for a change of an earlier batch.
    """

    key: str
    effect: Effect
    number: int | None


Effects = dict[str, list[BatchEffect]]
"""What a batch does to the rows of a table, by their keys."""

_REMAINS: Final = "remains"
_CHANGED: Final = pa.schema([*ROWS, pa.field(_REMAINS, pa.bool_())])

_ROWS: Final = f'SELECT held."{KEY}", held."{ROW}", held."{COLUMN}" FROM held'  # noqa: S608
_TOMBSTONES: Final = f'SELECT held."{KEY}", held."{COLUMN}" FROM held'  # noqa: S608 - names of ours
_OF_KEYS: Final = f' JOIN wanted ON held."{KEY}" = wanted."{KEY}"'
_PATCHED: Final = (
    f" WHERE held.\"{COLUMN}\"['columns'] IS NOT NULL OR held.\"{COLUMN}\"['floor'] IS NOT NULL"
)


class Held(Struct):
    """What a table has of a key.

    Attributes:
        row: The row.
        grave: Its tombstone; of several the newest.
    """

    row: State | None = None
    grave: State | None = None


class Decisions(Struct):
    """What becomes of a table.

    Attributes:
        counts: What became of the changes, as `changewire.tables.Result.counts` has it.
        graves: Tombstones to append.
        changed: Rows to write, and keys of rows to remove, with the columns of `_CHANGED`.
        failures: Why changes cannot be applied, by their rows in the batch.
    """

    counts: Counter[str] = field(default_factory=Counter)
    graves: list[dict[str, Any]] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[int, Refusal] = field(default_factory=dict)

    def decide(self, key: str, held: Held, batch: Sequence[BatchEffect], floor: Order) -> None:
        """Decide what a row becomes; if that fails, the changes of its key do."""
        try:
            effects = [one.effect for one in batch]
            becomes = merged(held.row, held.grave, effects, floor, self.counts)
            if becomes is not None:
                self._take(key, held, becomes.state)
        except Exception as error:  # noqa: BLE001 - one key must not end the run
            why = apply_failed(error, "", "deciding on the row")
            self.failures |= {one.number: why for one in batch if one.number is not None}

    def _take(self, key: str, held: Held, after: State | None) -> None:
        """Take what a row becomes."""
        is_row = after is not None and after.values is not None
        if after is not None:
            metadata = as_pairs(metadata_of(after))
            if after.values is None:
                self.graves.append({KEY: key, COLUMN: metadata})
            else:
                row = packed(key, after.values)
                self.changed.append({KEY: key, ROW: row, COLUMN: metadata, _REMAINS: True})
        if held.row is not None and not is_row:
            self.changed.append({KEY: key, _REMAINS: False})


class Merge(NamedTuple):
    """What a batch does to one table.

    Attributes:
        effects: What it does to rows.
        target: Folder of the table.
        truncate: Order of the newest truncate that the batch has for the table.
    """

    effects: Effects
    target: str
    truncate: Order = OLDEST


class DecidedTable(NamedTuple):
    """What a table becomes.

    Attributes:
        place: The table, as it was read.
        decisions: What becomes of it.
    """

    place: Place
    decisions: Decisions


def decide(merge: Merge) -> DecidedTable:
    """Decide what each row of a table becomes; the table is made if it is not there.

    Memory holds the effects, the rows and tombstones of their keys, and what delta-rs needs to join
    them with the files that it rewrites; after a truncate also the rows that patches made.

    Raises:
        OutputError: The table has other columns, or is not for delta-rs to write.
    """
    place = place_of(merge.target)
    return DecidedTable(place, _decisions(merge, place))


def write(merge: Merge, first: DecidedTable) -> Counter[str]:
    """Write what was decided; a retry changes nothing.

    Tombstones are written first. Rows are written as the version after the one that was decided on,
    or not at all: if another writer came first, everything is decided anew.

    Args:
        merge: What the batch does.
        first: What was decided.

    Returns:
        What became of the effects.

    Raises:
        ConflictError: Other writers did not let it be done.
        OutputError: The table has other columns, or is not for delta-rs to write.
    """
    decided: DecidedTable | None = first
    counts: Counter[str] | None = None
    for _ in tries():
        try:
            if decided is None or merge.truncate > OLDEST:
                decided = _after_truncate(merge)
            is_final = _write(decided)
        except CommitFailedError:
            decided = None
            continue
        counts = decided.decisions.counts if counts is None else counts
        if is_final:
            return counts
        decided = None
    raise conflict(merge.target)


def _after_truncate(merge: Merge) -> DecidedTable:
    """Keep the truncate, remove the rows that are older, and decide on the others.

    Raises:
        CommitFailedError: Another writer came first.
    """
    place = table, graves = place_of(merge.target)
    if merge.truncate > OLDEST:
        if merge.truncate > _kept_truncate(graves):
            set_property(graves, TRUNCATED, order_text(merge.truncate))
        with told(table.table_uri):
            table.delete(older_than(_floor(merge, graves)), commit_properties=NEXT_VERSION)
    return DecidedTable(place, _decisions(merge, place))


def _write(decided: DecidedTable) -> bool:
    """Write what was decided; return whether nothing else was written meanwhile.

    Raises:
        CommitFailedError: Another writer came first.
    """
    (table, graves), decisions = decided
    if not decisions.graves and not decisions.changed:
        return True
    if decisions.graves:
        bury(decisions.graves, graves)
    if decisions.changed:
        write_rows(decisions.changed, table)
    # Who read one of the tables before this wrote it, and wrote the other one after this read it,
    # has seen nothing of this, and this nothing of it: one of both has to look again.
    return _is_newest(table) and _is_newest(graves)


def _kept_truncate(graves: DeltaTable) -> Order:
    return order_value(graves.metadata().configuration.get(TRUNCATED))


def _floor(merge: Merge, graves: DeltaTable) -> Order:
    """Return the order of the newest truncate."""
    return max(_kept_truncate(graves), merge.truncate)


def _decisions(merge: Merge, place: Place) -> Decisions:
    """Return what each row becomes that effects, or a truncate, concern."""
    table, graves = place
    effects, floor = merge.effects, _floor(merge, graves)
    held: dict[str, Held] = {key: Held() for key in effects}
    with _wanted([*effects]) as wanted:
        for row in read(table, _ROWS + _OF_KEYS, wanted=wanted):
            held[row[KEY]].row = state_from(row[COLUMN], unpacked(row[ROW]))
        for row in read(graves, _TOMBSTONES + _OF_KEYS, wanted=wanted):
            grave, there = state_from(row[COLUMN], None), held[row[KEY]]
            there.grave = grave if there.grave is None else joined(there.grave, grave)
    for row in read(table, _ROWS + _PATCHED) if merge.truncate > OLDEST else ():
        of_key = held.setdefault(row[KEY], Held())
        of_key.row = state_from(row[COLUMN], unpacked(row[ROW]))
    decisions = Decisions()
    for key, found in held.items():
        decisions.decide(key, found, effects.get(key, ()), floor)
    decisions.counts = +decisions.counts
    return decisions


@contextmanager
def _wanted(keys: list[str]) -> Generator[DeltaTable, None, None]:
    """Give keys as a table that queries can join: delta-rs takes no others."""
    with tempfile.TemporaryDirectory(prefix="changewire-") as folder:
        write_deltalake(folder, pa.table({KEY: pa.array(keys, pa.string())}))
        yield DeltaTable(folder)


def bury(graves: list[dict[str, Any]], tombstones: DeltaTable) -> None:
    """Append tombstones; one that is there twice does no harm.

    Raises:
        CommitFailedError: Another writer changed the table's properties.
    """
    since = datetime.now(timezone.utc)
    rows = pa.Table.from_pylist([{**grave, "since": since} for grave in graves], TOMBSTONES)
    with told(tombstones.table_uri):
        write_deltalake(tombstones, rows, mode="append")


def write_rows(changed: list[dict[str, Any]], table: DeltaTable) -> None:
    """Write and remove rows of a table that is still as it was read.

    Raises:
        CommitFailedError: It is not.
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
    with told(table.table_uri):
        (
            merger.when_matched_delete(f"NOT {remains}")
            .when_matched_update(names, remains)
            .when_not_matched_insert(names, remains)
            .execute()
        )


def _is_newest(table: DeltaTable) -> bool:
    """Whether nobody wrote a table since it was written or read here."""
    version = table.version()
    with told(table.table_uri):
        table.update_incremental()
    return bool(table.version() == version)
