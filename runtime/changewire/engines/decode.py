"""Batches of records to batches of decoded rows: what both engines do to every message."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from itertools import repeat

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.reading import Element, Reading
from changewire.engines.layout import (
    CHANGE,
    CHANGE_COLUMNS,
    CHANGE_OPS,
    CONTROL,
    DEAD_LETTER,
    INPUT_COLUMNS,
    RECORD_COLUMNS,
    REJECTION_COLUMNS,
)
from changewire_messages.change import Change, Rejection
from changewire_messages.change.arrow import change_array, rejection_array
from changewire_messages.columns import spread

PART = 1024
"""Messages that are decoded together: so few that their models stay in the processor's cache."""


class Elements:
    """The elements of some messages, in their order.

    Attributes:
        sizes: How many elements each message has.
        changes: The change or control event that each element is; None for a dead letter.
        rejections: The rejection of each element; None where it is no dead letter.
        leniencies: Names of the leniencies that each element needed.
    """

    def __init__(self) -> None:
        """Start without elements."""
        self.sizes: list[int] = []
        self.changes: list[Change | None] = []
        self.rejections: list[Rejection | None] = []
        self.leniencies: list[list[str]] = []

    def add(self, result: Change | Rejection, leniencies: list[str]) -> None:
        """Add what became of the next element."""
        if isinstance(result, Rejection):
            self.changes.append(None)
            self.rejections.append(result)
        else:
            self.changes.append(result)
            self.rejections.append(None)
        self.leniencies.append(leniencies)


class Decoder:
    """Decodes batches of records; it pickles, so that workers get a copy.

    Attributes:
        reading: The format of the messages, and what they do not say themselves.
    """

    def __init__(self, reading: Reading) -> None:
        """Remember how messages are read."""
        self.reading = reading

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a row for each element of each message.

        Args:
            batch: Columns of `layout.INPUT_COLUMNS`; one that is not there is NULL.
        """
        starts = range(0, len(batch) or 1, PART)
        with _collector_paused():
            parts = [self._part(batch.slice(start, PART)) for start in starts]
        if len(parts) == 1:
            return parts[0]
        (rows,) = pa.Table.from_batches(parts).combine_chunks().to_batches()
        return rows

    def _part(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        elements = Elements()
        values = batch.column("value").to_pylist()
        has_keys = "key" in batch.schema.names
        keys = batch.column("key").to_pylist() if has_keys else repeat(None, len(values))
        for value, key in zip(values, keys, strict=True):
            found = self._elements(value, key)
            elements.sizes.append(len(found))
            for result, leniencies in found:
                elements.add(result, leniencies)
        return pa.RecordBatch.from_pydict(self._columns(batch, elements))

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Element]:
        """Return what becomes of each element of a message."""
        return self.reading.elements(value, key)

    def _columns(self, batch: pa.RecordBatch, elements: Elements) -> dict[str, pa.Array]:
        return columns(batch, elements)


@contextmanager
def _collector_paused() -> Generator[None, None, None]:
    """Keep the garbage collector from looking for cycles among models, which have none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def columns(batch: pa.RecordBatch, elements: Elements) -> dict[str, pa.Array]:
    """Join the elements with the columns of the records that they came in."""
    record = records(batch, elements.sizes)
    change = _fields(spread(elements.changes, change_array), CHANGE_COLUMNS)
    dead = _fields(spread(elements.rejections, rejection_array), REJECTION_COLUMNS)
    is_dead = pc.is_valid(dead["code"])
    return {
        "kind": pc.if_else(is_dead, DEAD_LETTER, _kinds(change["op"])),
        **_numbers(elements.sizes),
        "leniencies": pa.array(elements.leniencies, pa.list_(pa.string())),
        **change,
        **dead,
        "record_key": record["key"],
        "value": pc.if_else(is_dead, record["value"], None),
        **{name: record[name] for name in RECORD_COLUMNS},
    }


def _kinds(ops: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_in(ops, pa.array(sorted(CHANGE_OPS))), CHANGE, CONTROL)


def _numbers(sizes: list[int]) -> dict[str, pa.Array]:
    """Return the index of each element, and how many its message has in its first one, else 0."""
    if sizes.count(1) == len(sizes):
        zero, one = pa.scalar(0, pa.int32()), pa.scalar(1, pa.int32())
        return {"element": pa.repeat(zero, len(sizes)), "elements": pa.repeat(one, len(sizes))}
    elements = [i for size in sizes for i in range(size)]
    counts = [0 if i else size for size in sizes for i in range(size)]
    return {"element": pa.array(elements, pa.int32()), "elements": pa.array(counts, pa.int32())}


def records(batch: pa.RecordBatch, sizes: list[int]) -> dict[str, pa.Array]:
    """Return the columns of the records, a row for each element."""
    if any(size != 1 for size in sizes):
        places = [place for place, size in enumerate(sizes) for _ in range(size)]
        batch = batch.take(pa.array(places, pa.int64()))
    found = dict(zip(batch.schema.names, batch.columns, strict=True))
    return {
        name: found[name] if name in found else pa.nulls(len(batch), kind)
        for name, kind in INPUT_COLUMNS.items()
    }


def decoded_schema() -> pa.Schema:
    """Return the columns of decoded rows, the same for every format."""
    empty = {name: pa.array([], kind) for name, kind in INPUT_COLUMNS.items()}
    rows = columns(pa.RecordBatch.from_pydict(empty), Elements())
    return pa.RecordBatch.from_pydict(rows).schema


def _fields(array: pa.StructArray, names: tuple[str, ...]) -> dict[str, pa.Array]:
    """Return fields of a struct array; NULL where the struct is."""
    flat = dict(zip(array.type.names, array.flatten(), strict=True))
    return {name: flat[name] for name in names}
