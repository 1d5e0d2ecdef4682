"""What the rows of one table become by a batch.

A key is hard if one of its changes in a batch is a patch, says only that the row exists, or has no
sequence, or if its row was patched: what the row becomes depends on the current row, and
`changewire.tables` decides. Rows of all other keys get their newest change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from changewire.engines.applied import decided_name
from changewire.engines.changelog.shapes import Shape
from changewire.engines.known import KnownLog
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.look import logged_deletes
from changewire.engines.merge.mutations import (
    CONTENT,
    NUMBER,
    fitted,
    is_easy,
    newest,
    with_order,
    without,
)
from changewire.engines.merge.options import LocalOptions
from changewire.engines.merge.sieve import Sieve
from changewire.engines.merge.table import ConstraintError, LocalTable, made, schema_of
from changewire.engines.typed.types import without_metadata
from changewire.tables.merge import merged
from changewire.tables.mutations import DELETE
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal, apply_failed, constraint_refusal
from changewire.tables.row_state import COLUMN, ORDER, row_state, state_from
from changewire.tables.state import Row, State, full_image
from changewire_messages.tables.arrow import ROW_STATE

_STEP: Final = "deciding on the row"


class Floors(NamedTuple):
    """What settles rows of a table that a batch does not have.

    The newest truncate of the batch, that of all, and the greatest first number of the sequence of
    a delete that was logged before the batch.
    """

    truncate: Order
    truncated: Order
    deleted: int | None


@dataclass(frozen=True)
class TableMerge:
    """Merges mutations into one table; after a conflict with another writer it is called again."""

    options: LocalOptions
    log: LocalLog
    known: KnownLog
    target: Target
    shape: Shape
    floors: Floors

    def __call__(self, mutations: pa.Table) -> tuple[Counter[str], dict[int, Refusal]]:
        """Merge mutations; return what was done, and which changes the table cannot take."""
        counts, source = Counter[str](), self.known.tables.sources.get(self.target)
        table = made(self.target.name, self.shape, self.log.id, source)
        if self.floors.truncate > OLDEST:
            counts["deleted"] += table.truncate(self.floors.truncated)
        found, failures, rounded = fitted(mutations, self.shape)
        counts["sequence_inherited"] += found["major"].null_count
        counts["rounded_numbers"] += rounded
        while True:
            deletes = self._deletes(found)
            rows, failed = self._rows(found, table, deletes)
            failures |= failed
            try:
                if len(rows):
                    counts += table.merge(
                        rows, self.shape, keeps_deleted=self.options.keeps_deleted
                    )
            except ConstraintError as error:
                broken = self._broken(found, rows, table, deletes)
                if not broken:
                    raise error.cause from None
            else:
                return counts, failures
            numbers = found[NUMBER].to_pylist()
            refused = {numbers[i]: constraint_refusal(name) for i, name in broken.items()}
            found = without(found, broken, refused)
            failures |= {number: why for number, why in refused.items() if number is not None}

    def _rows(
        self, found: pa.Table, table: LocalTable, deletes: Mapping[str, Order]
    ) -> tuple[pa.Table, dict[int, Refusal]]:
        """Return the rows that mutations leave, and which changes cannot be applied."""
        shape, floors = self.shape, self.floors
        hard = self._hard(found, table)
        is_hard = pc.is_in(found["key"], pa.array(sorted(hard), pa.string()))
        easy = found.filter(pc.invert(is_hard))
        if floors.truncated > OLDEST:
            easy = with_order(easy, lambda order, _key, _kind: order > floors.truncated)
        easy = newest(easy)
        if deletes:
            easy = with_order(
                easy, lambda order, key, kind: kind == DELETE or deletes.get(key, OLDEST) <= order
            )
        mark = decided_name(table.names)
        schema = without_metadata(schema_of(shape)).append(pa.field(mark, pa.bool_()))
        rows = _as_rows(easy, schema)
        if not hard and floors.truncate == OLDEST:
            return rows, {}
        those = found.filter(is_hard)
        decided, failed = self._decided(those, self._held(those, table), deletes)
        marked = [{**row, mark: True} for row in decided]
        return pa.concat_tables([rows, pa.Table.from_pylist(marked, schema)]), failed

    def _broken(
        self, found: pa.Table, rows: pa.Table, table: LocalTable, deletes: Mapping[str, Order]
    ) -> dict[int, str]:
        """Return which constraints mutations break, by their numbers among those of the table."""
        keys = table.suspects(rows, self.shape, keeps_deleted=self.options.keeps_deleted)
        indexed = found.append_column("index", pa.array(range(len(found)), pa.int64()))
        those = indexed.filter(pc.is_in(found["key"], pa.array(sorted(keys), pa.string())))
        batch: dict[str, list[dict[str, Any]]] = {}
        for one in those.to_pylist(maps_as_pydicts="strict"):
            batch.setdefault(one["key"], []).append(one)
        held = {self.shape.key_of(row): row for row in table.rows(self._keys(those))}
        sieve = Sieve(
            self.shape,
            held,
            self.floors.truncated,
            deletes,
            self.options.keeps_deleted,
            table.violated,
        )
        return sieve.refused(batch)

    def _hard(self, found: pa.Table, table: LocalTable) -> set[str]:
        """Return the keys whose rows Python decides on."""
        hard = {*found.filter(pc.invert(is_easy(found)))["key"].to_pylist()}
        if self.known.has_patches(self.target) and len(found):
            # What is older than a patched row may still set, or settle, columns of it.
            keys = {*found["key"].to_pylist()}
            rows = table.rows(self._keys(found), are_patched=True)
            hard |= {key for key in map(self.shape.key_of, rows) if key in keys}
        return hard

    def _held(self, found: pa.Table, table: LocalTable) -> dict[str, Mapping[str, Any]]:
        """Return the rows of hard keys; after a truncate also others that were patched."""
        keys = {*found["key"].to_pylist()}
        rows = table.rows(self._keys(found)) if keys else ()
        held = {key: row for row in rows if (key := self.shape.key_of(row)) in keys}
        if self.floors.truncate > OLDEST:
            for row in table.rows(None, are_patched=True):
                held.setdefault(self.shape.key_of(row), row)
        return held

    def _deletes(self, found: pa.Table) -> dict[str, Order]:
        """Return the deletes in the log of keys that have a change which may be older."""
        deleted = self.floors.deleted
        if deleted is None or not len(found):
            return {}
        writes = found.filter(pc.not_equal(found["kind"], DELETE))
        is_late = pc.fill_null(pc.less_equal(writes["major"], deleted), True)  # noqa: FBT003
        wanted = {*writes.filter(is_late)["key"].to_pylist()}
        least = None if found["major"].null_count else pc.min(writes["major"]).as_py()
        if not wanted or (least is not None and least > deleted):
            return {}
        return logged_deletes(self.log, self.known, self.target, self.shape, wanted, least)

    def _decided(
        self, found: pa.Table, held: Mapping[str, Mapping[str, Any]], deletes: Mapping[str, Order]
    ) -> tuple[list[dict[str, Any]], dict[int, Refusal]]:
        """Return what rows of hard keys become, and which changes cannot be applied."""
        shape, floor = self.shape, self.floors.truncated
        batch: dict[str, list[dict[str, Any]]] = {key: [] for key in held}
        for one in found.to_pylist(maps_as_pydicts="strict"):
            batch.setdefault(one["key"], []).append(one)
        rows: list[dict[str, Any]] = []
        failures: dict[int, Refusal] = {}
        for key, changes in batch.items():
            row = held.get(key)
            stored = None if row is None else _state(row[COLUMN], shape.values(row))
            named = {name: (row or changes[0][CONTENT])[name] for name in shape.keys}
            try:
                mutations = [shape.mutation(one, one[CONTENT]) for one in changes]
                mutations.sort(key=lambda mutation: mutation.position)
                state = merged(stored, mutations, floor, deletes.get(key, OLDEST))
                if state is not UNSET:
                    rows.append({**shape.row(named, state.values), COLUMN: row_state(state)})
            except Exception as error:  # noqa: BLE001 - one key must not end the run
                why = apply_failed(error, "", _STEP)
                failures |= {one[NUMBER]: why for one in changes if one[NUMBER] is not None}
        return rows, failures

    def _keys(self, found: pa.Table) -> pa.Table:
        """Return the columns of keys."""
        return pa.table({name: pc.struct_field(found[CONTENT], name) for name in self.shape.keys})


def _state(fields: Mapping[str, Any] | None, values: Row) -> State:
    """Return the state of a row; one that something else has made is older than every change."""
    return full_image(OLDEST, values) if fields is None else state_from(fields, values)


def _as_rows(found: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the newest mutations as rows of a table, with a column that they are not decided."""
    size = len(found)
    state = {
        **{name: found[name].combine_chunks() for name in ORDER},
        "deleted": pc.equal(found["kind"], DELETE).combine_chunks(),
        "columns": pa.nulls(size, pa.string()),
    }
    states = [state[field.name] for field in ROW_STATE]
    columns = {
        **{name: pc.struct_field(found[CONTENT], name) for name in schema.names[:-2]},
        COLUMN: pa.StructArray.from_arrays(states, fields=[*ROW_STATE]),
        schema.names[-1]: pa.array([False] * size, pa.bool_()),
    }
    return pa.table(columns, schema)
