"""Elements of messages, and the columns of the rows that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.layout import (
    CHANGE,
    CHANGE_COLUMNS,
    CHANGE_OPS,
    CONTROL,
    DEAD_LETTER,
    DECLARED,
    EFFECT,
    INPUT_COLUMNS,
    RECORD_COLUMNS,
    REJECTION_COLUMNS,
    table_of,
)
from changewire.engines.places import Places, records_of
from changewire.tables.keys import key_text
from changewire.tables.mutations import effect_of
from changewire.version import VERSION
from changewire_messages.change import Rejection
from changewire_messages.change.arrow import change_array, rejection_array
from changewire_messages.columns import spread

_KEYS: Final = ("key", "before_key")
"""Columns whose texts are equal for keys that name one row."""

Found: TypeAlias = tuple[Any, list[str]]
"""The meaning of an element: the source of its columns, or a `Rejection`; and the names of the
leniencies that it needed."""


class Elements:
    """The elements of some messages, or a run of them, in their order.

    Attributes:
        found: The elements.
        rows: Source of columns, such as the change that each element is; None for a dead
            letter.
        rejections: The rejection of each element; None if it is not a dead letter.
        leniencies: Names of the leniencies that each element needed.
    """

    def __init__(self, found: Sequence[Found] = ()) -> None:
        """Take the elements apart."""
        self.found = found
        self.leniencies: list[list[str]] = [leniencies for _, leniencies in found]
        self.rows: list[Any | None] = [
            None if isinstance(result, Rejection) else result for result, _ in found
        ]
        self.rejections: list[Rejection | None] = [
            result if isinstance(result, Rejection) else None for result, _ in found
        ]


def columns(
    batch: pa.RecordBatch, elements: Elements, places: Places | None
) -> dict[str, pa.Array]:
    """Join elements with the columns of their records."""
    change = _fields(spread(elements.rows, change_array), CHANGE_COLUMNS)
    for name in _KEYS:
        keys = [None if row is None else getattr(row, name) for row in elements.rows]
        change[name] = pa.array(
            [None if key is None else key_text(key) for key in keys], pa.string()
        )
    effects = [
        None if row is None or row.op not in CHANGE_OPS else effect_of(row) for row in elements.rows
    ]
    change[EFFECT] = pa.array(effects, pa.string())
    change[DECLARED] = pa.nulls(len(effects), pa.string())
    dead, leniencies = rejection_columns(elements), leniencies_column(elements)
    return element_columns(batch, kinds(change), change, dead, leniencies, places)


def rejection_columns(elements: Elements) -> dict[str, pa.Array]:
    """Return the columns of the rejections; NULL if it is not a dead letter."""
    return _fields(spread(elements.rejections, rejection_array), REJECTION_COLUMNS)


def leniencies_column(elements: Elements) -> pa.Array:
    """Return the names of the leniencies that each element needed."""
    return pa.array(elements.leniencies, pa.list_(pa.string()))


def element_columns(  # noqa: PLR0917 - one for each part of a row
    batch: pa.RecordBatch,
    kind: pa.Array | str,
    own: Mapping[str, pa.Array],
    dead: Mapping[str, pa.Array],
    leniencies: pa.Array,
    places: Places | None,
) -> dict[str, pa.Array]:
    """Join the columns of elements with those of their records; `places` as for `records_of`.

    `kind` and `own` are of elements that are not dead letters.
    """
    rows = len(leniencies)
    is_dead = pc.is_valid(dead["code"])
    record = records_of(batch, rows, places, is_dead)
    zero, one = pa.scalar(0, pa.int32()), pa.scalar(1, pa.int32())
    return {
        "kind": pc.if_else(is_dead, DEAD_LETTER, kind),
        "element": pa.repeat(zero, rows) if places is None else places.element,
        "elements": pa.repeat(one, rows) if places is None else places.elements,
        "leniencies": leniencies,
        **own,
        **dead,
        "record_key": record["key"],
        "value": record["value"],
        **{name: record[name] for name in RECORD_COLUMNS},
    }


def kinds(change: Mapping[str, pa.Array]) -> pa.Array:
    """Return the kinds of rows that are changes or control events, by the columns of the change."""
    return pc.if_else(pc.is_in(change["op"], pa.array(sorted(CHANGE_OPS))), CHANGE, CONTROL)


def output_of(rows: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    """Return the rows of one kind, with the columns that they have apart from others."""
    chosen = rows.filter(pc.equal(rows.column("kind"), kind))
    if kind == DEAD_LETTER:
        version = pa.array([VERSION] * len(chosen), pa.string())
        others = [name for name in chosen.schema.names if name != "key"]
        chosen = chosen.select(others).append_column("version", version)
        chosen = chosen.rename_columns({"record_key": "key"})
    return chosen.select(list(table_of(kind)))


def decoded_schema() -> pa.Schema:
    """Return the columns of decoded rows, the same for every format."""
    return pa.RecordBatch.from_pydict(columns(no_records(), Elements(), None)).schema


def no_rejections(rows: int) -> dict[str, pa.Array]:
    """Return the columns of rejections if no row is one."""
    return {name: pa.nulls(rows, column.type) for name, column in _no_rejection().items()}


@cache
def _no_rejection() -> Mapping[str, pa.Array]:
    return rejection_columns(Elements())


def no_records() -> pa.RecordBatch:
    """Return a batch of records without a row."""
    return pa.RecordBatch.from_pylist([], pa.schema(INPUT_COLUMNS))


def one_record() -> pa.RecordBatch:
    """Return a record whose columns are NULL."""
    return pa.RecordBatch.from_pylist([{}], pa.schema(INPUT_COLUMNS))


def _fields(array: pa.StructArray, names: tuple[str, ...]) -> dict[str, pa.Array]:
    """Return fields of a struct array; NULL if the struct is NULL."""
    flat = dict(zip(array.type.names, array.flatten(), strict=True))
    return {name: flat[name] for name in names}
