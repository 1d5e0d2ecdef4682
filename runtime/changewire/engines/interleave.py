"""Rows that a kernel made, and in their places the rows of the messages that it declined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter

import pyarrow as pa

from changewire.engines.cuts import combined


def interleaved(
    made: Iterable[pa.RecordBatch],
    decoded: Iterable[pa.RecordBatch],
    runs: Iterable[tuple[int, int]],
) -> Iterator[pa.RecordBatch]:
    """Yield rows in the order of their messages.

    What is yielded is no larger than a batch of each side together.

    Args:
        made: Rows of all messages; a message that was declined has one, which is left out.
        decoded: Rows of the messages that were declined.
        runs: Runs of messages that were declined: index of the first one's row in ``made``, and
            how many they are. The last run begins behind all rows, and is empty.
    """
    pieces = _pieces(_Rows(made), _Rows(decoded), runs)
    for _, group in groupby(pieces, key=itemgetter(0)):
        yield combined([piece for _, piece in group])


def _pieces(
    made: _Rows, decoded: _Rows, runs: Iterable[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
    """Yield slices of batches, each with the numbers of the batches that are read then."""
    row = 0
    for first, count in runs:
        for piece in made.rows(first - row):
            yield (made.number, decoded.number), piece
        made.skip(count)
        for piece in decoded.messages(count):
            yield (made.number, decoded.number), piece
        row = first + count


class _Rows:
    """Reads the rows of batches in their order.

    Attributes:
        number: How many batches it has begun.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self.number = 0
        self._batches = iter(batches)
        self._left: pa.RecordBatch | None = None
        self._sizes: Iterator[int] = iter(())

    def rows(self, count: int) -> Iterator[pa.RecordBatch]:
        """Yield the next rows, as slices of the batches that they are in."""
        while count:
            left = self._current()
            found = left.slice(0, count)
            self._left = left.slice(len(found))
            count -= len(found)
            yield found

    def messages(self, count: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the next messages, each of which has at least one."""
        while count:
            self._current()
            sizes = [*islice(self._sizes, count)]
            yield from self.rows(sum(sizes))
            count -= len(sizes)

    def skip(self, count: int) -> None:
        """Leave out the next rows."""
        for _ in self.rows(count):
            pass

    def _current(self) -> pa.RecordBatch:
        """Return what is left of a batch, which is at least one row."""
        left = self._left
        while not left:
            left = next(self._batches)
            self._sizes = filter(None, left.column("elements").to_pylist())
            self.number += 1
        self._left = left
        return left
