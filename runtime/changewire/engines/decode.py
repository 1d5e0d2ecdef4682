"""Batches of records to batches of decoded rows: what both engines do to every message."""

from __future__ import annotations

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


class Elements:
    """The elements of some messages, as columns.

    Attributes:
        places: Index of the message that an element is of.
        numbers: Index of the element in its message.
        counts: How many elements the message has, in its first element; otherwise 0.
        kinds: What became of the element.
        changes: The change or control event; None for a dead letter.
        rejections: The rejection of a dead letter; otherwise None.
        leniencies: Names of the leniencies that the element needed.
    """

    def __init__(self) -> None:
        """Start without elements."""
        self.places: list[int] = []
        self.numbers: list[int] = []
        self.counts: list[int] = []
        self.kinds: list[str] = []
        self.changes: list[Change | None] = []
        self.rejections: list[Rejection | None] = []
        self.leniencies: list[list[str]] = []

    def add(self, place: int, results: list[tuple[Any, list[str]]]) -> None:
        """Add the elements of one message: a change or a rejection, and its leniencies, each."""
        for number, (result, leniencies) in enumerate(results):
            self.places.append(place)
            self.numbers.append(number)
            self.counts.append(0 if number else len(results))
            self.leniencies.append(leniencies)
            if type(result) is Rejection:
                self.kinds.append(DEAD_LETTER)
                self.changes.append(None)
                self.rejections.append(result)
            else:
                self.kinds.append(CHANGE if result.op in CHANGE_OPS else CONTROL)
                self.changes.append(result)
                self.rejections.append(None)


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
            batch: The columns of `layout.INPUT_COLUMNS`.
        """
        elements = Elements()
        reader = codec(self.format)
        for place, value in enumerate(batch.column("value").to_pylist()):
            elements.add(place, self._message(value, reader))
        return pa.RecordBatch.from_pydict(self._columns(batch, elements))

    def _message(self, value: bytes | None, reader: Codec) -> list[tuple[Any, list[str]]]:
        if value is None:
            return [(empty_message(self.format, null_value=True), [])]
        models = reader.decode_all(value)
        if not models:
            return [(empty_message(self.format, null_value=False), [])]
        return [self._element(model, i, reader) for i, model in enumerate(models)]

    def _element(self, model: Any, number: int, reader: Codec) -> tuple[Any, list[str]]:
        if type(model) is Rejection:
            return model, []
        try:
            (change,) = changes(model, image=self.image)
        except DecodeError as error:
            return rejection(error, number), []
        return change, reader.leniencies(model)

    def _columns(self, batch: pa.RecordBatch, elements: Elements) -> dict[str, pa.Array]:
        return columns(batch, elements)


def columns(batch: pa.RecordBatch, elements: Elements) -> dict[str, pa.Array]:
    """Join the elements with the columns of the records that they came in."""
    places = pa.array(elements.places, pa.int64())
    records = batch if len(places) == len(batch) else batch.take(places)
    is_dead = pa.array([kind == DEAD_LETTER for kind in elements.kinds], pa.bool_())
    change = spread(elements.changes, change_array)
    dead = spread(elements.rejections, rejection_array)
    return {
        "kind": pa.array(elements.kinds, pa.string()),
        "element": pa.array(elements.numbers, pa.int32()),
        "elements": pa.array(elements.counts, pa.int32()),
        "leniencies": pa.array(elements.leniencies, pa.list_(pa.string())),
        **_fields(change, CHANGE_COLUMNS),
        **_fields(dead, REJECTION_COLUMNS),
        "record_key": records.column("key"),
        "value": pc.if_else(is_dead, records.column("value"), None),
        **{name: records.column(name) for name in RECORD_COLUMNS},
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
