"""Rows of two sources come in the order of their messages, wherever batches are cut."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from changewire.engines import interleave
from changewire.engines.interleave import interleaved

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
@pytest.mark.parametrize("long", [0, 1000])
@pytest.mark.parametrize("seed", range(10))
def test_rows_come_in_the_order_of_messages(
    monkeypatch: pytest.MonkeyPatch, seed: int, long: int, share: float
) -> None:
    """A message that was declined has its decoded rows in place of the one that was made."""
    monkeypatch.setattr(interleave, "_LONG", long)
    drawn = random.Random(seed)  # noqa: S311 - the same in each run
    made: list[Row] = []
    decoded: list[Row] = []
    expected: list[Row] = []
    runs: list[tuple[int, int]] = []
    for number in range(60):
        rows = rows_of(number, drawn.randint(1, 4))
        expected += rows
        if drawn.random() >= share:
            made += rows
            continue
        if runs and sum(runs[-1]) == len(made):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((len(made), 1))
        made += [(-1, 0, 1)]
        decoded += rows
    runs.append((len(made), 0))
    found = interleaved(batches(made, drawn), batches(decoded, drawn), runs)
    assert [tuple(row.values()) for batch in found for row in batch.to_pylist()] == expected


def test_rows_between_declined_messages_are_slices() -> None:
    """A piece that stands alone is not copied."""
    batch = pa.record_batch([[0, 1, 2], [0, 0, 0], [1, 1, 1]], ["message", "element", "elements"])
    (found,) = interleaved([batch], [], [(3, 0)])
    assert found.column(0).buffers()[1].address == batch.column(0).buffers()[1].address
