"""What the changes of a batch do to the rows of one table, by Arrow.

A change is easy if it has a sequence and writes or deletes a whole row. Then what a row becomes is
its newest change, and `changewire.tables` says the same of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.changelog.shapes import Shape
from changewire.engines.effects import EFFECTS
from changewire.engines.layout import CHANGE, POSITION
from changewire.engines.python.groups import is_lone_before
from changewire.tables.mutations import DELETE, FULL
from changewire.tables.order import Order
from changewire.tables.routing import Refusal
from changewire.tables.row_state import ORDER, order_from
from changewire_messages.tables.arrow import ROW_STATE

NUMBER: Final = "number"
"""Column: number of the change in its batch; NULL for a delete that its images say together."""

CONTENT: Final = "content"
"""Column: the row as the table would have it, a struct; a deleted one has its key alone."""

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


class Fitted(NamedTuple):
    """Mutations that fit a table, with `CONTENT`.

    `failures` says why changes do not fit, by their numbers, `rounded` how many numbers were.
    """

    mutations: pa.Table
    failures: dict[int, Refusal]
    rounded: int


def mutations_of(rows: pa.Table, numbers: Sequence[int]) -> pa.Table:
    """Return what changes among decoded rows with `EFFECTS` do; before images alone do nothing."""
    chosen = pa.array(numbers, pa.int64())
    part = rows.take(chosen).append_column("row", chosen)
    part = part.filter(pc.and_(pc.equal(part["kind"], CHANGE), pc.invert(is_lone_before(part))))
    effects = part[EFFECTS].combine_chunks()
    parents, flat = pc.list_parent_indices(effects), effects.flatten()
    of_effect = dict(zip(flat.type.names, flat.flatten(), strict=True))
    places = {
        name: pc.coalesce(*(part[column] for column in columns), pa.scalar(missing)).take(parents)
        for name, (columns, missing) in POSITION.items()
    }
    is_delete = pc.equal(of_effect["kind"], DELETE)
    afters = part["after"].take(parents)
    found = {
        **{name: of_effect[name] for name in ("key", "kind", "names")},
        "major": pc.struct_field(of_effect["sequence"], "major"),
        "minor": pc.struct_field(of_effect["sequence"], "minor"),
        **places,
        "element": part["element"].take(parents),
        "after": pc.if_else(is_delete, pa.scalar(None, pa.string()), afters),
        NUMBER: part["row"].take(parents),
    }
    return pa.table(found, MUTATIONS)


def fitted(found: pa.Table, shape: Shape) -> Fitted:
    """Return the mutations that fit a table; their keys are the texts that the table has.

    A change fits as a whole or not at all.
    """
    made = shape.fitted(found["key"], found["after"])
    both = found.set_column(0, "key", made.keys).append_column(CONTENT, made.rows)
    numbers = {found[NUMBER][index].as_py(): why for index, why in made.failures.items()}
    failures = {number: why for number, why in numbers.items() if number is not None}
    if made.failures:
        of_change = enumerate(found[NUMBER].to_pylist())
        good = [index not in made.failures and n not in failures for index, n in of_change]
        both = both.filter(pa.array(good, pa.bool_()))
    return Fitted(both, failures, made.rounded)


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
    """Return the mutations for which a condition is true, by their order, key and kind."""
    orders = found.select([*ORDER]).to_pylist()
    rows = zip(orders, found["key"].to_pylist(), found["kind"].to_pylist(), strict=True)
    mask = [holds(order_from(order), key, kind) for order, key, kind in rows]
    return found.filter(pa.array(mask, pa.bool_()))
