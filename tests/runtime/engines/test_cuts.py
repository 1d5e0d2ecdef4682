"""Batches are cut by what their rows weigh, and lose none of them."""

from __future__ import annotations

import json
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples import FORMAT, examples

from changewire.changes.decode_options import DecodeOptions, ElementRow
from changewire.engines.arrow.batches import to_batch
from changewire.engines.counts import ConservationError
from changewire.engines.cuts import BATCH_BYTES, cuts, joined, parts
from changewire.engines.decode import PART, Decoder
from changewire.framing import Position, Record

MEGABYTE = 2**20


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 9), st.integers(0, 100))
def test_ranges_cover_all_rows_within_their_bounds(
    weights: list[int], rows: int, limit: int
) -> None:
    """Each row is in one range; a range is over a bound only if it is one row, and never short."""
    ranges = list(cuts(weights, rows=rows, limit=limit))
    assert [i for start, stop in ranges for i in range(start, stop)] == list(range(len(weights)))
    for start, stop in ranges:
        assert stop - start <= rows
        assert stop - start == 1 or sum(weights[start:stop]) <= limit
    for (start, stop), (_, after) in pairwise(ranges):
        assert stop < after
        assert stop - start == rows or sum(weights[start : stop + 1]) > limit


@settings(deadline=None)  # the first call imports
@given(st.lists(st.none() | st.binary(max_size=9), max_size=30), st.integers(1, 40))
def test_parts_joined_again_are_the_batch(values: list[bytes | None], limit: int) -> None:
    """Parting and joining change no row and no order."""
    batch = pa.RecordBatch.from_pydict({"value": pa.array(values, pa.binary())})
    found = list(parts(batch, rows=7, limit=limit))
    assert pa.Table.from_batches(found, batch.schema).column("value").to_pylist() == values
    whole = list(joined(found, limit=10**6))
    assert [rows.column("value").to_pylist() for rows in whole] == [values]


def test_joining_stops_at_the_limit() -> None:
    """Small batches become large ones, and none is larger than the limit for being joined."""
    batch = pa.RecordBatch.from_pydict({"value": pa.array([b"x" * 100] * 10, pa.binary())})
    found = list(joined([batch] * 9, limit=4 * batch.nbytes))
    assert [len(rows) for rows in found] == [40, 40, 10]


def rows_of(values: list[bytes], key: bytes = b"k") -> list[pa.RecordBatch]:
    """Return the batches that messages become."""
    records = [Record(key, value, Position(offset=i)) for i, value in enumerate(values)]
    return list(Decoder(DecodeOptions(FORMAT))(to_batch(records)))


def test_large_messages_make_small_batches() -> None:
    """Messages of a megabyte, good or refused, leave in batches of a few, whole and in order."""
    good = json.dumps({**examples("write")[0], "bins": []}).encode()
    padded = good[:-1] + b" " * MEGABYTE + good[-1:]
    for value in (padded, padded[:-1]):
        found = rows_of([value] * 20)
        offsets = [offset for rows in found for offset in rows.column("offset").to_pylist()]
        assert offsets == list(range(20))
        assert max(rows.nbytes for rows in found) < BATCH_BYTES + MEGABYTE


def test_a_message_of_many_dead_letters_leaves_in_pieces() -> None:
    """Each dead letter of a batch carries the whole message; they are never all in memory."""
    value = json.dumps([{"msg": "write", "x": "x" * 1000}] * 300).encode()
    sizes, elements, declared = [], [], 0
    for rows in Decoder(DecodeOptions(FORMAT))(to_batch([Record(b"k", value, Position())])):
        sizes.append(rows.nbytes)
        elements += rows.column("element").to_pylist()
        declared += sum(rows.column("elements").to_pylist())
        assert set(rows.column("value").to_pylist()) == {value}
    assert elements == list(range(300))
    assert declared == 300
    assert len(sizes) > 5
    assert max(sizes) < BATCH_BYTES + len(value)


def test_good_elements_do_not_copy_their_message() -> None:
    """A large batch of good elements weighs what its changes do, not the message for each."""
    write = {**examples("write")[0], "bins": []}
    value = json.dumps([write] * (2 * PART)).encode()
    rows = rows_of([value, value])
    assert sum(len(batch) for batch in rows) == 4 * PART
    assert sum(batch.nbytes for batch in rows) < 10 * len(value)


def test_headers_that_many_rows_repeat_are_weighed() -> None:
    """Large headers and keys of a batch of elements do not multiply in memory."""
    value = json.dumps([{**examples("write")[0], "bins": []}] * 100).encode()
    record = Record(b"k" * MEGABYTE, value, Position(), (("h", b"v" * MEGABYTE),))
    sizes = [rows.nbytes for rows in Decoder(DecodeOptions(FORMAT))(to_batch([record]))]
    assert max(sizes) < BATCH_BYTES + 3 * MEGABYTE


def test_a_message_without_a_row_is_told() -> None:
    """A decoder that loses a message stops before anything is written."""

    class Losing(Decoder):
        def _elements(self, value: bytes | None, key: bytes | None) -> list[ElementRow]:
            return [] if value == b"[]" else super()._elements(value, key)

    records = [Record(None, value, Position()) for value in (b"{", b"[]", b"{")]
    with pytest.raises(ConservationError, match="1 messages have no row"):
        list(Losing(DecodeOptions(FORMAT))(to_batch(records)))
