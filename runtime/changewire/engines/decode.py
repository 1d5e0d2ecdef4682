"""Batches of records to batches of decoded rows: what both engines do to every message."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import chain, repeat
from typing import Any, ClassVar, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.decode_options import DecodeOptions
from changewire.codec import DecodeError, FormatError, rejection
from changewire.codec.border import internal_error
from changewire.engines.counts import ConservationError
from changewire.engines.cuts import BATCH_BYTES, cuts, joined, lengths, parts
from changewire.engines.layout import (
    CHANGE,
    CHANGE_COLUMNS,
    CHANGE_OPS,
    CONTROL,
    DEAD_LETTER,
    INPUT_COLUMNS,
    OUTPUTS,
    RECORD_COLUMNS,
    REJECTION_COLUMNS,
)
from changewire.engines.native import NATIVE_PART, Kernel, Made, kernel_of
from changewire.engines.places import Places, places_of, records_of, repeated_bytes
from changewire_messages.change import Rejection
from changewire_messages.change.arrow import change_array, rejection_array
from changewire_messages.columns import spread

PART = 1024
"""Messages that are decoded together: so few that their models stay in the processor's cache."""

ROWS = 10 * PART
"""Elements whose columns are made together, of messages that hold many."""


Found: TypeAlias = tuple[Any, list[str]]
"""What an element is: what a decoder makes columns of, or a `Rejection`; and the names of the
leniencies that it needed."""


class Elements:
    """The elements of some messages, or a run of them, in their order.

    Attributes:
        rows: What columns are made of, such as the change that each element is; None for a dead
            letter.
        rejections: The rejection of each element; None where it is no dead letter.
        leniencies: Names of the leniencies that each element needed.
    """

    def __init__(self, found: Sequence[Found] = ()) -> None:
        """Take the elements apart."""
        self._found = found
        self.leniencies = [leniencies for _, leniencies in found]
        self.rows = [None if isinstance(result, Rejection) else result for result, _ in found]
        self.rejections = [result if isinstance(result, Rejection) else None for result, _ in found]

    def __len__(self) -> int:
        return len(self._found)

    def each(self, function: Callable[[Found], Found]) -> Elements:
        """Return what a function makes of each element."""
        return Elements([*map(function, self._found)])

    def run(self, start: int, stop: int) -> Elements:
        """Return the elements from one to before another."""
        return Elements(self._found[start:stop])


class Decoder:
    """Decodes batches of records; it pickles, so that workers get a copy.

    Attributes:
        decode_options: The format of the messages, and what they do not say themselves.
        all_have_values: Whether every row carries its message, and not dead letters alone.
        outputs: Kind of the rows that each output takes.
    """

    all_have_values = False
    outputs: ClassVar[Mapping[str, str]] = OUTPUTS

    def __init__(self, decode_options: DecodeOptions) -> None:
        """Remember how messages are read."""
        self.decode_options = decode_options

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield a row for each element of each message, in batches that are cut by bytes.

        Args:
            batch: Columns of `layout.INPUT_COLUMNS`; one that is not there is NULL.

        Raises:
            ConservationError: A message has no row.
        """
        rows = joined(self._parts(batch))
        while (found := _next(rows)) is not None:
            yield found

    def schema(self) -> pa.Schema:
        """Return the columns of the rows that it yields."""
        return self._rows(_no_records(), Elements(), None).schema

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all but the kernel, which each worker makes anew."""
        return {name: value for name, value in vars(self).items() if name != "kernel"}

    @cached_property
    def kernel(self) -> Kernel | None:
        """What decodes most messages quickly; None if there is no such, or not for these rows."""
        return kernel_of(self.decode_options) if type(self) is Decoder else None

    def _parts(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        kernel = self.kernel
        if kernel is None or not len(batch) or not kernel.reads(batch):
            yield from chain.from_iterable(map(self._part, parts(batch, rows=PART)))
            return
        for part in parts(batch, rows=NATIVE_PART):
            yield from self._interleaved(part, kernel.decode(part))

    def _interleaved(self, batch: pa.RecordBatch, made: Made) -> Iterator[pa.RecordBatch]:
        """Yield the rows that a kernel made, and in place those of the messages it declined."""
        plain = None
        if made.sizes is None:
            plain = pa.RecordBatch.from_pydict(self._native_columns(batch, made, None))
        start = row = 0
        for first, stop in (*made.declined, (len(batch), len(batch))):
            if plain is not None and first > start:
                yield plain.slice(start, first - start)
            elif made.sizes is not None and first > start:
                sizes = made.sizes[start:first]
                yield from self._of_batches(batch.slice(start, first - start), made, sizes, row)
                row += sum(sizes)
            for part in parts(batch.slice(first, stop - first), rows=PART) if stop > first else ():
                yield from self._part(part)
            row += stop - first
            start = stop

    def _of_batches(
        self, batch: pa.RecordBatch, made: Made, sizes: list[int], start: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of messages that may be several rows, in batches that are cut by bytes.

        Args:
            batch: The messages.
            made: What a kernel made of them, and of others.
            sizes: How many rows each has.
            start: Index of their first row.
        """
        places, weights = places_of(sizes), repeated_bytes(batch)
        if self.all_have_values:
            values = lengths(batch.column("value"))
            weights = [sum(pair) for pair in zip(weights, values, strict=True)]
        each = [weights[place] for place, size in enumerate(sizes) for _ in range(size)]
        for first, stop in cuts(each, rows=ROWS, limit=BATCH_BYTES):
            within = Places(*(column.slice(first, stop - first) for column in places))
            rows = made.rows(start + first, stop - first)
            yield pa.RecordBatch.from_pydict(self._native_columns(batch, rows, within))

    def _native_columns(
        self, batch: pa.RecordBatch, made: Made, places: Places | None
    ) -> dict[str, pa.Array]:
        """Return the columns of rows that a kernel made."""
        dead = _no_rejections(len(made.leniencies))
        return joined_columns(batch, made.change, dead, made.leniencies, places)

    def _part(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        elements, sizes = self._decoded(batch)
        if sizes.count(1) == len(sizes):
            yield self._rows(batch, elements, None)
            return
        if 0 in sizes:
            raise ConservationError(f"{sizes.count(0)} messages have no row")
        places = places_of(sizes)
        weights = self._weights(batch, elements, sizes)
        for start, stop in cuts(weights, rows=ROWS, limit=BATCH_BYTES):
            within = Places(*(column.slice(start, stop - start) for column in places))
            yield self._rows(batch, elements.run(start, stop), within)

    def _decoded(self, batch: pa.RecordBatch) -> tuple[Elements, list[int]]:
        """Return the elements of all messages, and how many each message has."""
        all_found: list[Found] = []
        sizes: list[int] = []
        values = batch.column("value").to_pylist()
        has_keys = "key" in batch.schema.names
        keys = batch.column("key").to_pylist() if has_keys else repeat(None, len(values))
        for value, key in zip(values, keys, strict=True):
            found = self._message(value, key)
            sizes.append(len(found))
            all_found += found
        return Elements(all_found), sizes

    def _weights(self, batch: pa.RecordBatch, elements: Elements, sizes: list[int]) -> list[int]:
        """Return the bytes that each row repeats of its record."""
        values, repeated = lengths(batch.column("value")), repeated_bytes(batch)
        places = (place for place, size in enumerate(sizes) for _ in range(size))
        return [
            repeated[place] + (values[place] if self.all_have_values or rejection else 0)
            for place, rejection in zip(places, elements.rejections, strict=True)
        ]

    def _rows(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> pa.RecordBatch:
        try:
            return pa.RecordBatch.from_pydict(self._columns(batch, elements, places))
        except Exception:  # noqa: BLE001 - one element must not end the stream
            isolated = elements.each(self._alone)
            return pa.RecordBatch.from_pydict(self._columns(batch, isolated, places))

    def _alone(self, element: Found) -> Found:
        """Return an element, or the rejection of one that columns cannot hold."""
        try:
            self._columns(_one_record(), Elements([element]), None)
        except Exception as error:  # noqa: BLE001 - as above
            return self._failed(error), []
        return element

    def _message(self, value: bytes | None, key: bytes | None) -> list[Found]:
        """Return what becomes of each element of a message, whatever reading it raises."""
        try:
            return self._elements(value, key)
        except FormatError:  # of all messages of the format
            raise
        except Exception as error:  # noqa: BLE001 - one message must not end the stream
            return [(self._failed(error), [])]

    def _failed(self, error: Exception) -> Rejection:
        """Return the rejection of an element that raised what nothing expected."""
        return rejection(DecodeError(self.decode_options.format, [internal_error(error)]))

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Found]:
        """Return what becomes of each element of a message."""
        return self.decode_options.rows(value, key)

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        return columns(batch, elements, places)


def _next(batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Return the next batch, None at the end; who takes the batches has the collector meanwhile."""
    with _collector_paused():
        return next(batches, None)


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


def columns(
    batch: pa.RecordBatch, elements: Elements, places: Places | None
) -> dict[str, pa.Array]:
    """Join elements with the columns of the records that they came in.

    Args:
        batch: Records.
        elements: Elements of these records.
        places: Which record each is of; None where every record is one element.
    """
    change = _fields(spread(elements.rows, change_array), CHANGE_COLUMNS)
    dead = rejection_columns(elements)
    leniencies = leniencies_column(elements)
    return joined_columns(batch, change, dead, leniencies, places)


def rejection_columns(elements: Elements) -> dict[str, pa.Array]:
    """Return the columns of the rejections; NULL for what is no dead letter."""
    return _fields(spread(elements.rejections, rejection_array), REJECTION_COLUMNS)


def leniencies_column(elements: Elements) -> pa.Array:
    """Return the names of the leniencies that each element needed."""
    return pa.array(elements.leniencies, pa.list_(pa.string()))


def joined_columns(
    batch: pa.RecordBatch,
    change: Mapping[str, pa.Array],
    dead: Mapping[str, pa.Array],
    leniencies: pa.Array,
    places: Places | None,
) -> dict[str, pa.Array]:
    """Join the columns of elements with those of the records that they came in.

    Args:
        batch: Records.
        change: Columns of the changes; NULL for dead letters.
        dead: Columns of the rejections; NULL for changes.
        leniencies: Names of the leniencies that each element needed.
        places: Which record each is of; None where every record is one element.
    """
    return element_columns(batch, _kinds(change["op"]), change, dead, leniencies, places)


def element_columns(  # noqa: PLR0917 - one for each part of a row
    batch: pa.RecordBatch,
    kind: pa.Array | str,
    own: Mapping[str, pa.Array],
    dead: Mapping[str, pa.Array],
    leniencies: pa.Array,
    places: Places | None,
) -> dict[str, pa.Array]:
    """Join the columns of elements of any kind with those of their records.

    Args:
        batch: Records.
        kind: Kind of what is no dead letter.
        own: Columns of what is no dead letter.
        dead: Columns of the rejections.
        leniencies: Names of the leniencies that each element needed.
        places: Which record each is of; None where every record is one element.
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


def _kinds(ops: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_in(ops, pa.array(sorted(CHANGE_OPS))), CHANGE, CONTROL)


def decoded_schema() -> pa.Schema:
    """Return the columns of decoded rows, the same for every format."""
    return pa.RecordBatch.from_pydict(columns(_no_records(), Elements(), None)).schema


def _no_rejections(rows: int) -> dict[str, pa.Array]:
    """Return the columns of rejections where no row is one."""
    return {name: pa.nulls(rows, kind) for name, kind in _rejection_types().items()}


@cache
def _rejection_types() -> Mapping[str, pa.DataType]:
    found = _fields(spread([], rejection_array), REJECTION_COLUMNS)
    return {name: column.type for name, column in found.items()}


def _no_records() -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], pa.schema(INPUT_COLUMNS))


def _one_record() -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{}], pa.schema(INPUT_COLUMNS))


def _fields(array: pa.StructArray, names: tuple[str, ...]) -> dict[str, pa.Array]:
    """Return fields of a struct array; NULL where the struct is."""
    flat = dict(zip(array.type.names, array.flatten(), strict=True))
    return {name: flat[name] for name in names}
