"""Batches of records to batches of decoded rows: what both engines do to every message."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes import Image, changes, empty_message
from changewire.codec import Codec, DecodeError, codec, rejection
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
        results: The change or control event that an element is, or its rejection.
        leniencies: Names of the leniencies that each element needed.
    """

    def __init__(self) -> None:
        """Start without elements."""
        self.sizes: list[int] = []
        self.results: list[Change | Rejection] = []
        self.leniencies: list[list[str]] = []

    @property
    def changes(self) -> list[Change | None]:
        """The change or control event of each element; None for a dead letter."""
        return [None if isinstance(result, Rejection) else result for result in self.results]

    @property
    def rejections(self) -> list[Rejection | None]:
        """The rejection of each element; None where it is no dead letter."""
        return [result if isinstance(result, Rejection) else None for result in self.results]

    @property
    def kinds(self) -> list[str]:
        """What became of each element."""
        return [_kind(result) for result in self.results]


def _kind(result: Change | Rejection) -> str:
    if isinstance(result, Rejection):
        return DEAD_LETTER
    return CHANGE if result.op in CHANGE_OPS else CONTROL


class Decoder:
    """Decodes batches of records in one format; it pickles, so that workers get a copy.

    Attributes:
        format: Public name of the format.
        image: What a write holds of its row.
    """

    def __init__(self, format: str, image: Image = "full") -> None:
        """Check that the format is there."""
        codec(format)
        self.format = format
        self.image: Image = image

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
        elements, reader = Elements(), codec(self.format)
        results, leniencies = elements.results, elements.leniencies
        for value in batch.column("value").to_pylist():
            models = self._models(value, reader)
            elements.sizes.append(len(models))
            for number, model in enumerate(models):
                result, used = self._element(model, number, reader)
                results.append(result)
                leniencies.append(used)
        return pa.RecordBatch.from_pydict(self._columns(batch, elements))

    def _models(self, value: bytes | None, reader: Codec) -> list[Any]:
        """Return the elements of a message; an empty one is one control event."""
        if value is None:
            return [empty_message(self.format, null_value=True)]
        return reader.decode_all(value) or [empty_message(self.format, null_value=False)]

    def _element(self, model: Any, number: int, reader: Codec) -> tuple[Any, list[str]]:
        if type(model) in _FINISHED:
            return model, []
        try:
            (change,) = changes(model, image=self.image)
        except DecodeError as error:
            return rejection(error, number), []
        return change, reader.leniencies(model)

    def _columns(self, batch: pa.RecordBatch, elements: Elements) -> dict[str, pa.Array]:
        return columns(batch, elements)


_FINISHED = frozenset({Change, Rejection})


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
    kinds = elements.kinds
    record = _records(batch, elements.sizes)
    change = spread(elements.changes, change_array)
    dead = spread(elements.rejections, rejection_array)
    is_dead = pa.array([kind == DEAD_LETTER for kind in kinds], pa.bool_())
    return {
        "kind": pa.array(kinds, pa.string()),
        "element": pa.array([i for size in elements.sizes for i in range(size)], pa.int32()),
        "elements": pa.array(
            [0 if i else size for size in elements.sizes for i in range(size)], pa.int32()
        ),
        "leniencies": pa.array(elements.leniencies, pa.list_(pa.string())),
        **_fields(change, CHANGE_COLUMNS),
        **_fields(dead, REJECTION_COLUMNS),
        "record_key": record["key"],
        "value": pc.if_else(is_dead, record["value"], None),
        **{name: record[name] for name in RECORD_COLUMNS},
    }


def _records(batch: pa.RecordBatch, sizes: list[int]) -> dict[str, pa.Array]:
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
