"""What the changes of a batch do to the rows of one table, and the newest of each key, by Arrow.

A change is easy if it has a sequence and writes or deletes a whole row. Then what a row becomes is
its newest change, and `changewire.tables` says the same of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.effects import EFFECTS
from changewire.engines.layout import CHANGE, POSITION
from changewire.engines.python.groups import is_lone_before
from changewire.tables.mutations import DELETE, FULL
from changewire.tables.order import Order
from changewire.tables.row_state import ORDER, order_from
from changewire_messages.tables.arrow import ROW_STATE

NUMBER: Final = "number"
"""Column: number of the change in its batch; NULL for a delete that its images say together."""

MUTATIONS: Final = pa.schema(
    [
        pa.field("key", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("names", pa.list_(pa.string())),
        *(ROW_STATE.field(name) for name in ORDER),
        pa.field("after", pa.string()),
        pa.field(NUMBER, pa.int64()),
    ]
)
"""Columns of mutations; the text of a key is equal for keys that name one row."""


def mutations_of(rows: pa.Table, numbers: Sequence[int]) -> pa.Table:
    """Return what changes do; a before image alone does nothing.

    Args:
        rows: Decoded rows with `EFFECTS`.
        numbers: Those of the changes.
    """
    chosen = pa.array(numbers, pa.int64())
    part = rows.take(chosen).append_column("row", chosen)
    part = part.filter(pc.and_(pc.equal(part["kind"], CHANGE), pc.invert(is_lone_before(part))))
    effects = part[EFFECTS].combine_chunks()
    parents, flat = pc.list_parent_indices(effects), effects.flatten()
    of_effect = dict(zip(flat.type.names, flat.flatten(), strict=True))
    places = {name: column.take(parents) for name, column in positions(part).items()}
    afters = part["after"].take(parents)
    is_delete = pc.equal(of_effect["kind"], DELETE)
    found = {
        **{name: of_effect[name] for name in ("key", "kind", "names")},
        "major": pc.struct_field(of_effect["sequence"], "major"),
        "minor": pc.struct_field(of_effect["sequence"], "minor"),
        **places,
        "after": pc.if_else(is_delete, pa.scalar(None, pa.string()), afters),
        NUMBER: part["row"].take(parents),
    }
    return pa.table(found, MUTATIONS)


def positions(rows: pa.Table) -> Mapping[str, Any]:
    """Return the position of each row, as `changewire.tables` orders changes."""
    return {
        **{
            name: pc.coalesce(*(rows[column] for column in columns), pa.scalar(missing))
            for name, (columns, missing) in POSITION.items()
        },
        "element": rows["element"],
    }


def is_easy(found: pa.Table) -> Any:
    """Return which mutations are easy."""
    is_whole = pc.is_in(found["kind"], pa.array([FULL, DELETE]))
    return pc.and_(is_whole, pc.is_valid(found["major"]))


def newest(found: pa.Table) -> pa.Table:
    """Return the newest mutation of each key; of one order, a delete is the newest.

    Sorting is stable, and what a change deletes comes before what it writes.
    """
    by: list[Any] = [("key", "ascending"), *((name, "descending") for name in ORDER)]
    ordered = found.sort_by(by)
    keys = ordered["key"].combine_chunks()
    is_other = pc.not_equal(keys.slice(1), keys.slice(0, max(len(keys) - 1, 0)))
    first = pa.array([True] * min(len(keys), 1), pa.bool_())
    return ordered.filter(pa.chunked_array([first, is_other]))


def with_order(found: pa.Table, holds: Callable[[Order, str, str], bool]) -> pa.Table:
    """Return the mutations of which a condition holds, by their order, key and kind."""
    orders = found.select([*ORDER]).to_pylist()
    rows = zip(orders, found["key"].to_pylist(), found["kind"].to_pylist(), strict=True)
    mask = [holds(order_from(order), key, kind) for order, key, kind in rows]
    return found.filter(pa.array(mask, pa.bool_()))
