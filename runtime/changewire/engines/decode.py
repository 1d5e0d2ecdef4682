"""Batches of records to batches of decoded rows: what both engines do to every message."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, repeat
from typing import Any, ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.decode_options import DecodeOptions
from changewire.codec import DecodeError, FormatError, rejection
from changewire.codec.border import RESOURCE_ERRORS, internal_error
from changewire.engines.carried import carried, with_undeclared
from changewire.engines.counts import ConservationError
from changewire.engines.cuts import BATCH_BYTES, cuts, joined, lengths, parts
from changewire.engines.declared import DeclaredColumns
from changewire.engines.elements import (
    Elements,
    Found,
    columns,
    element_columns,
    kinds,
    no_records,
    no_rejections,
    one_record,
)
from changewire.engines.interleave import interleaved
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, DECLARED
from changewire.engines.native import NATIVE_PART, Kernel, Made, kernel_of
from changewire.engines.places import Places, places_of, repeated_bytes, without_prefixes
from changewire_messages.change import Rejection

PART = 1024
"""Messages that are decoded together: so few that their models stay in the processor's cache."""

ROWS = 10 * PART
"""Elements whose columns are made together, of messages that have many."""


_MADE: Final = frozenset({"kernel", "declared"})


class Decoder:
    """Decodes batches of records; it pickles, so that workers get a copy.

    Attributes:
        decode_options: The format of the messages, and information that they lack.
        all_have_values: Whether every row carries its message, and not dead letters alone.
        kinds: Kinds of the rows, of dead letters last.
    """

    all_have_values = False
    kinds: ClassVar[tuple[str, ...]] = (CHANGE, CONTROL, DEAD_LETTER)

    def __init__(self, decode_options: DecodeOptions) -> None:
        """Remember how messages are read."""
        self.decode_options = decode_options

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield a row for each element of each message, in batches that are cut by bytes."""
        rows = joined(self._parts(batch))
        while True:
            with _collector_paused():  # who takes the batches has the collector meanwhile
                found = next(rows, None)
            if found is None:
                return
            yield found

    def schema(self) -> pa.Schema:
        """Return the columns of the rows that it yields."""
        return self._rows(no_records(), Elements(), None).schema

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all but the parts that each worker makes itself."""
        return {name: value for name, value in vars(self).items() if name not in _MADE}

    @cached_property
    def kernel(self) -> Kernel | None:
        """What decodes most messages quickly; None if there is no such, or not for these rows."""
        return self._kernel()

    def _kernel(self) -> Kernel | None:
        return kernel_of(self.decode_options) if type(self) is Decoder else None

    @cached_property
    def declared(self) -> DeclaredColumns:
        """What the schemas in messages declare."""
        return DeclaredColumns(self.decode_options)

    def _parts(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        kernel = self.kernel
        if kernel is None or not len(batch) or not kernel.reads(batch):
            yield from self._by_python(batch)
            return
        for part in parts(batch, rows=NATIVE_PART):
            is_framed = self.decode_options.strip_registry_prefix
            made = kernel.decode(without_prefixes(part) if is_framed else part)
            rows = self._of_kernel(part, made)
            if len(made.declined):
                rows = interleaved(rows, self._by_python(part.take(made.declined)), made.runs)
            yield from rows

    def _by_python(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        return chain.from_iterable(map(self._part, parts(batch, rows=PART)))

    def _of_kernel(self, batch: pa.RecordBatch, made: Made) -> Iterator[pa.RecordBatch]:
        """Yield the rows that a kernel made, in batches that are cut by bytes."""
        places = made.places
        if places is None:
            yield pa.RecordBatch.from_pydict(self._native_columns(batch, made, None))
            return
        weights = self._weights(batch, places, repeat(None))
        for start, stop in cuts(weights, rows=ROWS, limit=BATCH_BYTES):
            rows = made.rows(start, stop - start)
            within = places.rows(start, stop - start)
            yield pa.RecordBatch.from_pydict(self._native_columns(batch, rows, within))

    def _native_columns(
        self, batch: pa.RecordBatch, made: Made, places: Places | None
    ) -> dict[str, pa.Array]:
        """Return the columns of rows that a kernel made."""
        dead = no_rejections(len(made.leniencies))
        fingerprints = made.change["schema_fingerprint"]
        own = {**made.change, DECLARED: self.declared(fingerprints, batch, places)}
        own[DECLARED] = self._carried(own, made.leniencies)
        return element_columns(batch, kinds(own), own, dead, made.leniencies, places)

    def _part(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        elements, sizes = self._decoded(batch)
        if sizes.count(1) == len(sizes):
            yield self._rows(batch, elements, None)
            return
        if 0 in sizes:
            raise ConservationError(f"{sizes.count(0)} messages have no row")
        places = places_of(pa.array(sizes, pa.int32()))
        weights = self._weights(batch, places, elements.rejections)
        for start, stop in cuts(weights, rows=ROWS, limit=BATCH_BYTES):
            within = places.rows(start, stop - start)
            yield self._rows(batch, Elements(elements.found[start:stop]), within)

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

    def _weights(
        self, batch: pa.RecordBatch, places: Places, rejections: Iterable[Rejection | None]
    ) -> list[int]:
        """Return the bytes that each row repeats of its record."""
        values, repeated = lengths(batch.column("value")), repeated_bytes(batch)
        return [
            repeated[record] + (values[record] if self.all_have_values or rejection else 0)
            for record, rejection in zip(places.record.to_pylist(), rejections, strict=False)
        ]

    def _rows(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> pa.RecordBatch:
        try:
            return pa.RecordBatch.from_pydict(self._columns(batch, elements, places))
        except Exception:  # noqa: BLE001 - one element must not end the stream
            isolated = Elements([*map(self._alone, elements.found)])
            return pa.RecordBatch.from_pydict(self._columns(batch, isolated, places))

    def _alone(self, element: Found) -> Found:
        """Return an element, or the rejection of one that columns cannot represent."""
        try:
            self._columns(one_record(), Elements([element]), None)
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
        """Return the rejection of an element that raised an error, unless it is of the machine."""
        if isinstance(error, RESOURCE_ERRORS):
            raise error
        return rejection(DecodeError(self.decode_options.format, [internal_error(error)]))

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Found]:
        """Return what becomes of each element of a message."""
        return self.decode_options.rows(value, key)

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        found = columns(batch, elements, places)
        declared = self.declared(found["schema_fingerprint"], batch, places)
        own = {**found, DECLARED: declared}
        return {**found, DECLARED: self._carried(own, found["leniencies"])}

    def _carried(self, own: Mapping[str, pa.Array], leniencies: pa.Array) -> pa.Array:
        """Return the columns that messages declare, or that their values show."""
        declared, rows = own[DECLARED], (own["after"], own["attributes"])
        if type(self) is not Decoder:
            return declared  # others have rows of a type
        declared = with_undeclared(declared, *rows, leniencies)
        lacks = pc.and_(pc.is_null(declared), pc.is_valid(own["after"]))
        return pc.if_else(lacks, carried(*rows), declared) if pc.any(lacks).as_py() else declared


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
