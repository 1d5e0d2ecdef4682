"""The rule for hard keys, in Python: what `changewire.tables` says each row becomes.

A key is hard if one of its changes in a batch is a patch, says only that the row exists, or has no
sequence, or if its row was patched: what the row becomes depends on the row that is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
from msgspec import UNSET

from changewire.engines.effects import mutation_of
from changewire.engines.merge.mutations import NUMBER
from changewire.engines.merge.shapes import CONTENT, NAMED, Shape, source_schema
from changewire.tables.merge import merged
from changewire.tables.mutations import RowMutation
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import Refusal, apply_failed
from changewire.tables.row_state import COLUMN, row_state, state_from
from changewire.tables.state import State

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
    stored: dict[str, State] = {}
    named: dict[str, Mapping[str, Any]] = {}
    for row in held:
        key = shape.key_text(row)
        named[key] = {name: row[name] for name in shape.keys}
        stored[key] = state_from(row[COLUMN], shape.stored(row))
    batch: dict[str, list[dict[str, Any]]] = {}
    for row in found.to_pylist(maps_as_pydicts="strict"):
        batch.setdefault(row["key"], []).append(row)
        named.setdefault(row["key"], row[NAMED])
    rows: list[dict[str, Any]] = []
    failures: dict[int, Refusal] = {}
    for key in {**stored, **batch}:
        changes, deleted = batch.get(key, []), deletes.get(key, OLDEST)
        try:
            state = merged(stored.get(key), _mutations(changes, shape), floor, deleted)
            if state is not UNSET:
                row = {**shape.row(key, state.values), **named[key], COLUMN: row_state(state)}
                rows.append({**row, mark: True})
        except Exception as error:  # noqa: BLE001 - one key must not end the run
            why = apply_failed(error, "", _STEP)
            numbers = (change[NUMBER] for change in changes)
            failures |= {number: why for number in numbers if number is not None}
    return Decided(pa.Table.from_pylist(rows, source_schema(shape, mark)), failures)


def _mutations(changes: Iterable[dict[str, Any]], shape: Shape) -> list[RowMutation]:
    """Return the mutations of a key in the order of their positions."""
    found = [mutation_of(row, _values(row[CONTENT], shape)) for row in changes]
    return sorted(found, key=lambda mutation: mutation.position)


def _values(content: Any, shape: Shape) -> dict[str, Any]:
    return {} if content is None else shape.values(content)
