"""What the changes of a batch do to the rows of one table, by Arrow.

A change is easy if it has a sequence and writes or deletes a whole row. Then what a row becomes is
its newest change, and `changewire.tables` says the same of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.vendors import USER_KEY_COLUMN
from changewire.engines.changelog.shapes import RESCUED, Shape
from changewire.engines.effects import names_of
from changewire.engines.layout import DECLARED, EFFECT, POSITION
from changewire.engines.log import ELEMENT_PLACE
from changewire.engines.user_key import with_user_keys
from changewire.tables.mutations import APPLIED, DELETE, FULL
from changewire.tables.order import Order
from changewire.tables.routing import Refusal
from changewire.tables.row_state import ORDER, order_from
from changewire_messages.tables.arrow import ROW_STATE

NUMBER: Final = "number"
"""Column: number of the change in its batch; NULL for a delete that its images say together."""

_ROW: Final = "row"
_READ: Final = (
    *(EFFECT, "source", "key", "before_key", "before", "after", "sequence", "attributes"),
    DECLARED,
    *ELEMENT_PLACE,
)

CONTENT: Final = "content"
"""Column: the row as the table would have it, a struct; a deleted one has its key alone."""

MUTATIONS: Final = pa.schema(
    [
        pa.field("key", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("names", pa.list_(pa.string())),
        *(ROW_STATE.field(name) for name in ORDER),
        pa.field("after", pa.string()),
        pa.field(DECLARED, pa.string()),
        pa.field(NUMBER, pa.int64()),
    ]
)
"""Columns of mutations; the text of a key is equal for keys that name one row."""


class Fitted(NamedTuple):
    """Mutations that fit a table, with `CONTENT` and `RESCUED`.

    `failures` says why changes do not fit, by their numbers, `rounded` how many numbers were.
    """

    mutations: pa.Table
    failures: dict[int, Refusal]
    rounded: int


def mutations_of(
    rows: pa.Table,
    numbers: Sequence[int],
    gone: Iterable[Mapping[str, Any]] = (),
    shape: Shape | None = None,
) -> pa.Table:
    """Return what changes among rows of a log do; before images alone do nothing.

    What a row that moved leaves comes before all that is written; `gone` are deletes of keys that
    updates left by their images. The shape of the table is needed if rows are written.
    """
    chosen = pa.array(sorted(numbers), pa.int64())
    chosen = chosen.filter(pc.is_in(rows[EFFECT].take(chosen), pa.array(sorted(APPLIED))))
    part = rows.select([*_READ])
    part = part if len(chosen) == len(rows) else part.take(chosen)
    if shape is not None and USER_KEY_COLUMN in shape.schema.names:
        part = with_user_keys(part)
    part = part.append_column(_ROW, chosen)
    has_moved = pc.is_valid(part["before_key"])
    moved = part.filter(has_moved) if pc.any(has_moved).as_py() else part.slice(0, 0)
    deletes = pa.repeat(pa.scalar(DELETE), len(moved))
    written = pc.if_else(pc.is_in(part[EFFECT], pa.array(["keys", "patch"])), "patch", part[EFFECT])
    return pa.concat_tables(
        [
            _mutations(moved, "before_key", deletes, minor=0),
            _mutations(part, "key", written, minor=None),
            pa.Table.from_pylist([*gone], MUTATIONS),
        ]
    )


def _mutations(part: pa.Table, key: str, kind: Any, *, minor: int | None) -> pa.Table:
    """Return the mutations of a kind of the rows that a column names."""
    sequence = part["sequence"]
    seconds = pc.struct_field(sequence, "minor")
    if minor is not None:
        seconds = pc.if_else(pc.is_valid(seconds), pa.scalar(minor, pa.int64()), None)
    places = {
        name: pc.coalesce(*(part[column] for column in columns), pa.scalar(missing))
        for name, (columns, missing) in POSITION.items()
    }
    is_delete = pc.equal(kind, DELETE)
    found = {
        "key": part[key],
        "kind": kind,
        "names": _names(part, kind),
        "major": pc.struct_field(sequence, "major"),
        "minor": seconds,
        **places,
        "element": part["element"],
        "after": pc.if_else(is_delete, pa.scalar(None, pa.string()), part["after"]),
        DECLARED: part[DECLARED],
        NUMBER: part[_ROW],
    }
    return pa.table(found, MUTATIONS)


def _names(part: pa.Table, kind: Any) -> Any:
    """Return the columns that patches set or remove; NULL for all else."""
    is_patch = pc.equal(kind, "patch")
    if not pc.any(is_patch).as_py():
        return pa.nulls(len(part), pa.list_(pa.string()))
    columns = (part[name].to_pylist() for name in (EFFECT, "key", "before", "after"))
    found = [
        names_of(*texts) if effect == "patch" else [] if effect == "keys" else None
        for effect, *texts in zip(*columns, strict=True)
    ]
    return pa.array(found, pa.list_(pa.string()))


def fitted(found: pa.Table, shape: Shape) -> Fitted:
    """Return the mutations that fit a table; their keys are the texts that the table has.

    A change fits as a whole or not at all.
    """
    made = shape.fitted(found["key"], found["after"], found[DECLARED])
    both = found.set_column(0, "key", made.keys).append_column(CONTENT, made.rows)
    both = both.append_column(RESCUED, made.rescued)
    numbers = {found[NUMBER][index].as_py(): why for index, why in made.failures.items()}
    failures = {number: why for number, why in numbers.items() if number is not None}
    return Fitted(without(both, made.failures, failures), failures, made.rounded)


def without(found: pa.Table, indexes: Collection[int], refused: Collection[int]) -> pa.Table:
    """Return mutations without some, and without all of refused changes, by their numbers.

    A change is applied as a whole: a row stays whose move is refused, also if its images came as
    two messages.
    """
    if not indexes and not refused:
        return found
    columns = (found[name].to_pylist() for name in (NUMBER, "major"))
    each = [*zip(*columns, strict=True)]
    majors = {major for number, major in each if number in refused}
    kept = [
        index not in indexes and (major not in majors if number is None else number not in refused)
        for index, (number, major) in enumerate(each)
    ]
    return found.filter(pa.array(kept, pa.bool_()))


def is_easy(found: pa.Table) -> Any:
    """Return which mutations are easy."""
    is_whole = pc.is_in(found["kind"], pa.array([FULL, DELETE]))
    return pc.and_(is_whole, pc.is_valid(found["major"]))


def newest(found: pa.Table) -> pa.Table:
    """Return the newest mutation of each key; of one order, a delete is the newest.

    Sorting is stable, and what a change deletes comes before what it writes.
    """
    by: list[Any] = [("key", "ascending"), *((name, "descending") for name in ORDER)]
    order = pc.sort_indices(found, by)
    keys = found["key"].take(order).combine_chunks()
    is_other = pc.not_equal(keys.slice(1), keys.slice(0, max(len(keys) - 1, 0)))
    first = pa.array([True] * min(len(keys), 1), pa.bool_())
    return found.take(order.filter(pa.concat_arrays([first, is_other])))


def with_order(found: pa.Table, holds: Callable[[Order, str, str], bool]) -> pa.Table:
    """Return the mutations for which a condition is true, by their order, key and kind."""
    orders = found.select([*ORDER]).to_pylist()
    rows = zip(orders, found["key"].to_pylist(), found["kind"].to_pylist(), strict=True)
    mask = [holds(order_from(order), key, kind) for order, key, kind in rows]
    return found.filter(pa.array(mask, pa.bool_()))
