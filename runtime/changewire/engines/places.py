"""Which record each decoded row came in, and what it takes from there."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from changewire.codec.framed import without_prefix
from changewire.engines.cuts import lengths
from changewire.engines.layout import INPUT_COLUMNS


class Places(NamedTuple):
    """Places of rows among their records.

    Attributes:
        record: Index of the record that a row came in.
        element: Index of the row's element in its record.
        elements: How many elements the record has, in its first one; else 0.
    """

    record: pa.Array
    element: pa.Array
    elements: pa.Array

    def rows(self, start: int, count: int) -> Places:
        """Return the places of some rows."""
        return Places(*(column.slice(start, count) for column in self))


def places_of(sizes: pa.Array) -> Places:
    """Return the places of all elements of records, by how many each record has, as int32."""
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(sizes)])
    ones = pa.repeat(pa.scalar(1, pa.int32()), offsets[-1].as_py())
    rows = pc.subtract(pc.cumulative_sum(ones), pa.scalar(1, pa.int32()))
    record = pc.list_parent_indices(pa.ListArray.from_arrays(offsets, rows))
    element = pc.subtract(rows, offsets.take(record))
    is_first, zero = pc.equal(element, 0), pa.scalar(0, pa.int32())
    return Places(record, element, pc.if_else(is_first, sizes.take(record), zero))


def records_of(
    batch: pa.RecordBatch, rows: int, places: Places | None, has_value: pa.Array
) -> dict[str, pa.Array]:
    """Return the columns of the records, a row for each element.

    The places are None if every record is one element, which saves a tenth of the time to decode.
    Only rows that are said to have a value carry the message; for others it is not even copied.
    """
    found = dict(zip(batch.schema.names, batch.columns, strict=True))
    value = found.pop("value")
    if places is None:
        value = only_where(has_value, value)
    else:
        value = value.take(pc.if_else(has_value, places.record, None))
        found = {name: column.take(places.record) for name, column in found.items()}
    missing = {name: kind for name, kind in INPUT_COLUMNS.items() if name not in found}
    nulls = {name: pa.nulls(rows, kind) for name, kind in missing.items()}
    return {**nulls, **found, "value": value}


def only_where(mask: pa.Array, values: pa.Array) -> pa.Array:
    """Return values if a mask is true, else NULL; the bytes of the others are left behind.

    `pyarrow.compute.if_else` would keep them, hidden behind each NULL.
    """
    nothing = pa.nulls(len(values), values.type)
    return pc.replace_with_mask(nothing, mask, values.filter(mask))


def without_prefixes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return records whose values and keys lack the prefix of a schema registry."""
    for name in ("value", "key"):
        if name in batch.schema.names:
            # `pyarrow.compute.binary_slice` fails for some columns of bytes.
            found = [data and without_prefix(data) for data in batch.column(name).to_pylist()]
            place = batch.schema.get_field_index(name)
            batch = batch.set_column(place, name, pa.array(found, batch.schema.field(name).type))
    return batch


def repeated_bytes(batch: pa.RecordBatch) -> list[int]:
    """Return the bytes of each record's key and headers, which each of its rows has."""
    total = [0] * len(batch)
    if _has_values(batch, "key"):
        total = lengths(batch.column("key"))
    if _has_values(batch, "headers"):
        for place, headers in enumerate(batch.column("headers").to_pylist()):
            total[place] += sum(len(h["key"] or "") + len(h["value"] or b"") for h in headers or ())
    return total


def _has_values(batch: pa.RecordBatch, name: str) -> bool:
    return name in batch.schema.names and batch.column(name).null_count < len(batch)
