"""Rows of two sources come in the order of their messages, wherever batches are cut."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest
from tests.native.differential import needs_kernel

from changewire.engines.interleave import interleaved
from changewire.engines.native import Run, merged

pytestmark = needs_kernel

Row = tuple[int, int, int]
"""Number of a message, and ``element`` and ``elements`` as decoded rows have them."""


def rows_of(number: int, size: int) -> list[Row]:
    """Return the rows of a message of so many elements."""
    return [(number, i, 0 if i else size) for i in range(size)]


def batches(rows: Sequence[Row], cuts: random.Random) -> Iterator[pa.RecordBatch]:
    """Yield rows in batches that are cut anywhere."""
    start = 0
    while start < len(rows):
        stop = start + cuts.randint(1, 9)
        columns = [list(column) for column in zip(*rows[start:stop], strict=True)]
        yield pa.record_batch(columns, names=["message", "element", "elements"])
        start = stop


@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(10))
def test_rows_come_in_the_order_of_messages(seed: int, share: float) -> None:
    """A message that was declined has its decoded rows instead of those that were made."""
    drawn = random.Random(seed)  # noqa: S311 - the same in each run
    made: list[Row] = []
    decoded: list[Row] = []
    expected: list[Row] = []
    runs: list[Run] = []
    for number in range(60):
        rows = rows_of(number, drawn.randint(1, 4))
        expected += rows
        if drawn.random() >= share:
            made += rows
            continue
        dead = drawn.randint(1, 3)
        if runs and sum(runs[-1][:2]) == len(made):
            runs[-1] = (runs[-1][0], runs[-1][1] + dead, runs[-1][2] + 1)
        else:
            runs.append((len(made), dead, 1))
        made += [(-1, 0, 1)] * dead
        decoded += rows
    runs.append((len(made), 0, 0))
    found = interleaved(batches(made, drawn), batches(decoded, drawn), runs)
    assert [tuple(row.values()) for batch in found for row in batch.to_pylist()] == expected


def test_rows_between_declined_messages_are_slices() -> None:
    """A piece that stands alone is not copied."""
    batch = pa.record_batch([[0, 1, 2], [0, 0, 0], [1, 1, 1]], ["message", "element", "elements"])
    (found,) = interleaved([batch], [], [(3, 0, 0)])
    assert found.column(0).buffers()[1].address == batch.column(0).buffers()[1].address


KINDS = [
    pa.bool_(),
    pa.int64(),
    pa.string(),
    pa.binary(),
    pa.decimal128(9, 2),
    pa.timestamp("us", "UTC"),
    pa.list_(pa.string()),
    pa.map_(pa.string(), pa.int32()),
    pa.struct({"a": pa.int32(), "b": pa.list_(pa.float64())}),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_columns_of_any_type_are_merged(kind: pa.DataType) -> None:
    """Values and NULL of every type that rows have are copied, of slices too."""
    values = {
        pa.map_(pa.string(), pa.int32()): [("a", 1), ("b", None)],
        KINDS[-1]: {"a": 1, "b": [0.5, None]},
    }
    text = pa.array(["1", "0", None, "1"])
    if pa.types.is_nested(kind):
        value = values.get(kind, ["a", None])
        column = pa.array([value, None, value, None], kind)
    elif pa.types.is_timestamp(kind):
        column = pa.array([1, 2, None, 3], pa.int64()).cast(kind)
    else:
        column = text.cast(kind)
    one = pa.record_batch({"x": column})
    other = pa.record_batch({"x": pa.concat_arrays([column, column])}).slice(3, 4)
    found = merged([one, other], [(0, 2, 4), (1, 0, 3), (0, 0, 0), (0, 0, 1)])
    expected = pa.concat_arrays([column.slice(2), other.column(0).slice(0, 3), column.slice(0, 1)])
    assert found.column(0).equals(expected)
    found.validate(full=True)


def test_rows_of_other_batches_are_not_merged() -> None:
    """Batches of two schemas, and rows that a batch does not have, are refused."""
    batch = pa.record_batch({"x": [1, 2]})
    for batches, pieces in (
        ([batch, pa.record_batch({"y": [1]})], [(0, 0, 1)]),
        ([batch], [(0, 0, 3)]),
        ([batch], [(1, 0, 1)]),
        ([batch], [(0, 2, 1)]),
        ([], []),
    ):
        with pytest.raises(ValueError, match="one schema"):
            merged(batches, pieces)
