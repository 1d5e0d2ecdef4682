"""The rule for hard keys, in Python: what `changewire.tables` says each row becomes.

A key is hard if one of its changes in a batch is a patch, says only that the row exists, or has no
sequence, or if its row was patched: what the row becomes depends on the row that is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
from msgspec import UNSET

from changewire.engines.effects import mutation_of
from changewire.engines.merge.mutations import NUMBER
from changewire.engines.merge.shapes import CONTENT, NAMED, Shape, source_schema
from changewire.tables.merge import Stored, merged
from changewire.tables.mutations import RowMutation
from changewire.tables.order import Order
from changewire.tables.routing import Refusal, apply_failed
from changewire.tables.row_state import COLUMN, row_state, state_from
from changewire.tables.state import State, tombstone

_STEP: Final = "deciding on the row"


class Decided(NamedTuple):
    """What rows of hard keys become.

    Attributes:
        rows: Rows to merge, which replace those of the table.
        failures: Why changes cannot be applied, by their numbers.
    """

    rows: pa.Table
    failures: dict[int, Refusal]


def decided(  # noqa: PLR0917 - the parts of one decision
    found: pa.Table,
    held: Iterable[Mapping[str, Any]],
    deletes: Mapping[str, Order],
    floor: Order,
    shape: Shape,
    mark: str,
) -> Decided:
    """Return what the rows of hard keys become.

    Args:
        found: All mutations of these keys in the batch.
        held: Their rows in the table; after a truncate others that were patched.
        deletes: Their newest deletes in the log.
        floor: Order of the newest truncate of the table.
        shape: How the table has its rows.
        mark: Name of the column that says that rows are decided.
    """
    stored: dict[str, Stored] = {}
    named: dict[str, Mapping[str, Any]] = {}
    for row in held:
        key = shape.key_text(row)
        named[key] = {name: row[name] for name in shape.keys}
        _store(stored.setdefault(key, Stored()), state_from(row[COLUMN], shape.stored(row)))
    batch: dict[str, list[dict[str, Any]]] = {}
    for row in found.to_pylist(maps_as_pydicts="strict"):
        batch.setdefault(row["key"], []).append(row)
        named.setdefault(row["key"], row[NAMED])
    rows: list[dict[str, Any]] = []
    failures: dict[int, Refusal] = {}
    for key in {**stored, **batch}:
        changes, one = batch.get(key, []), stored.get(key, Stored())
        if key in deletes:
            one.add_tombstone(tombstone(deletes[key]))
        try:
            becomes = merged(one, _mutations(changes, shape), floor, Counter())
            if becomes is not UNSET:
                row = _row(key, becomes, one, floor, shape)
                rows.append({**row, **named[key], mark: True})
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - one key must not end the run
            why = apply_failed(error, "", _STEP)
            numbers = (change[NUMBER] for change in changes)
            failures |= {number: why for number in numbers if number is not None}
    return Decided(pa.Table.from_pylist(rows, source_schema(shape, mark)), failures)


def _store(stored: Stored, state: State) -> None:
    if state.values is None:
        stored.add_tombstone(state)
    else:
        stored.row = state


def _mutations(changes: Iterable[dict[str, Any]], shape: Shape) -> list[RowMutation]:
    """Return the mutations of a key in the order of their positions."""
    found = []
    for row in changes:
        content = row[CONTENT]
        values = {} if content is None else shape.values(content)
        sequence = None
        if row["major"] is not None:
            sequence = {"major": row["major"], "minor": row["minor"]}
        found.append(mutation_of({**row, "sequence": sequence}, values))
    return sorted(found, key=lambda mutation: mutation.position)


def _row(
    key: str, becomes: State | None, stored: Stored, floor: Order, shape: Shape
) -> dict[str, Any]:
    """Return what a row becomes; without a state it is deleted at the order that it had."""
    held = stored.row.order if stored.row else floor
    state = tombstone(max(held, floor)) if becomes is None else becomes
    return {**shape.row(key, state.values), COLUMN: row_state(state)}
