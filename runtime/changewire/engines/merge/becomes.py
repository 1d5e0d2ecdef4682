"""What the rows of one table become by some of its changes.

A key is hard if one of its changes is a patch, says only that the row exists, or has no sequence,
or if its row was patched: what the row becomes depends on the current row, and `changewire.tables`
decides. Rows of all other keys get their newest change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from changewire.engines.applied import decided_name
from changewire.engines.changelog.shapes import RESCUED, Shape
from changewire.engines.merge.mutations import CONTENT, NUMBER, is_easy, newest, with_order
from changewire.engines.merge.table import LocalTable, schema_of
from changewire.engines.typed.types import without_metadata
from changewire.tables.merge import merged
from changewire.tables.mutations import DELETE
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal, apply_failed
from changewire.tables.row_state import COLUMN, ORDER, row_state, state_from
from changewire.tables.state import Row, State, full_image
from changewire_messages.tables.arrow import ROW_STATE

_STEP: Final = "deciding on the row"


class Floors(NamedTuple):
    """What settles rows of a table that a batch does not have.

    The newest truncate of the batch, that of all, and the greatest first number of the sequence of
    a delete that was logged before the batch.
    """

    truncate: Order = OLDEST
    truncated: Order = OLDEST
    deleted: int | None = None


@dataclass(frozen=True)
class Becomes:
    """Decides what rows become.

    Attributes:
        shape: How the table has its rows.
        floors: What settles rows that the changes do not name.
        has_patches: Whether the table may have rows that were patched.
    """

    shape: Shape
    floors: Floors
    has_patches: bool

    def __call__(
        self, found: pa.Table, table: LocalTable | None, deletes: Mapping[str, Order]
    ) -> tuple[pa.Table, dict[int, Refusal], int]:
        """Return the rows that mutations leave, and which changes cannot be applied.

        Deleted rows are among them. The last column says that a row is decided, whatever the table
        has. The number is that of the keys whose row is known to stay as it is.
        """
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
        mark = decided_name([*shape.schema.names, COLUMN] if table is None else table.names)
        schema = without_metadata(schema_of(shape)).append(pa.field(mark, pa.bool_()))
        rows = _as_rows(easy, schema)
        if not hard and floors.truncate == OLDEST:
            return rows, {}, 0
        those = found.filter(is_hard)
        decided, failed, unchanged = self._decided(those, self._held(those, table), deletes)
        marked = [{**row, mark: True} for row in decided]
        return pa.concat_tables([rows, pa.Table.from_pylist(marked, schema)]), failed, unchanged

    def _hard(self, found: pa.Table, table: LocalTable | None) -> set[str]:
        """Return the keys whose rows Python decides on."""
        hard = {*found.filter(pc.invert(is_easy(found)))["key"].to_pylist()}
        if table is not None and self.has_patches and len(found):
            # What is older than a patched row may still set, or settle, columns of it.
            keys = {*found["key"].to_pylist()}
            rows = table.rows(keys_in(found, self.shape), are_patched=True)
            hard |= {key for key in map(self.shape.key_of, rows) if key in keys}
        return hard

    def _held(self, found: pa.Table, table: LocalTable | None) -> dict[str, Mapping[str, Any]]:
        """Return the rows of hard keys; after a truncate also others that were patched."""
        if table is None:
            return {}
        keys = {*found["key"].to_pylist()}
        rows = table.rows(keys_in(found, self.shape)) if keys else ()
        held = {key: row for row in rows if (key := self.shape.key_of(row)) in keys}
        if self.floors.truncate > OLDEST:
            for row in table.rows(None, are_patched=True):
                held.setdefault(self.shape.key_of(row), row)
        return held

    def _decided(
        self, found: pa.Table, held: Mapping[str, Mapping[str, Any]], deletes: Mapping[str, Order]
    ) -> tuple[list[dict[str, Any]], dict[int, Refusal], int]:
        """Return what rows of hard keys become, failed changes, and how many rows stay."""
        shape, floor = self.shape, self.floors.truncated
        batch: dict[str, list[dict[str, Any]]] = {key: [] for key in held}
        for one in found.to_pylist(maps_as_pydicts="strict"):
            batch.setdefault(one["key"], []).append(one)
        rows: list[dict[str, Any]] = []
        failures: dict[int, Refusal] = {}
        unchanged = 0
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
                elif changes:
                    unchanged += 1
            except Exception as error:  # noqa: BLE001 - one key must not end the run
                why = apply_failed(error, "", _STEP)
                failures |= {one[NUMBER]: why for one in changes if one[NUMBER] is not None}
        return rows, failures, unchanged


def keys_in(found: pa.Table, shape: Shape) -> pa.Table:
    """Return the columns of the keys of mutations."""
    return pa.table({name: pc.struct_field(found[CONTENT], name) for name in shape.keys})


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
        RESCUED: found[RESCUED].combine_chunks(),
    }
    states = [state[field.name] for field in ROW_STATE]
    columns = {
        **{name: pc.struct_field(found[CONTENT], name) for name in schema.names[:-2]},
        COLUMN: pa.StructArray.from_arrays(states, fields=[*ROW_STATE]),
        schema.names[-1]: pa.array([False] * size, pa.bool_()),
    }
    return pa.table(columns, schema)
