"""Rows that a kernel made, and in their places the rows of the messages that it declined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa

from changewire.engines.native import Run, merged


class _Piece(NamedTuple):
    """Rows that follow one another in a batch."""

    batch: pa.RecordBatch
    start: int
    stop: int
    is_made: bool


def interleaved(
    made: Iterable[pa.RecordBatch], decoded: Iterable[pa.RecordBatch], runs: Iterable[Run]
) -> Iterator[pa.RecordBatch]:
    """Yield rows in the order of their messages.

    The result is not larger than a batch of each side together.

    Args:
        made: Rows of all messages; those of messages that were declined are left out.
        decoded: Rows of the messages that were declined.
        runs: Runs of messages that were declined; see `changewire.engines.native.Made`.
    """
    pieces = _pieces(_Rows(made, is_made=True), _Rows(decoded, is_made=False), runs)
    for _, group in groupby(pieces, key=itemgetter(0)):
        yield _joined([piece for _, piece in group])


def _joined(pieces: Sequence[_Piece]) -> pa.RecordBatch:
    """Return the rows of pieces, which are of one batch of each side at most, in their order."""
    if len(pieces) == 1:
        (piece,) = pieces
        return piece.batch.slice(piece.start, piece.stop - piece.start)
    sides = {piece.is_made: piece.batch for piece in pieces}
    places = {side: place for place, side in enumerate(sides)}
    return merged([*sides.values()], [(places[p.is_made], p.start, p.stop) for p in pieces])


def _pieces(
    made: _Rows, decoded: _Rows, runs: Iterable[Run]
) -> Iterator[tuple[tuple[int, int], _Piece]]:
    """Yield pieces of batches, each with the numbers of the batches that are read then."""
    row = 0
    for first, rows, messages in runs:
        for piece in made.rows(first - row):
            yield (made.number, decoded.number), piece
        made.skip(rows)
        for piece in decoded.messages(messages):
            yield (made.number, decoded.number), piece
        row = first + rows


class _Rows:
    """Reads the rows of batches in their order.

    Attributes:
        number: How many batches it has begun.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch], *, is_made: bool) -> None:
        self.number = 0
        self._batches = iter(batches)
        self._batch: pa.RecordBatch | None = None
        self._at = 0
        self._sizes: Iterator[int] = iter(())
        self._is_made = is_made

    def rows(self, count: int) -> Iterator[_Piece]:
        """Yield the next rows, in pieces of the batches that they are in."""
        while count:
            batch, start = self._current(), self._at
            self._at = min(start + count, len(batch))
            count -= self._at - start
            yield _Piece(batch, start, self._at, self._is_made)

    def messages(self, count: int) -> Iterator[_Piece]:
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
        """Return the batch of the next row."""
        batch = self._batch
        while batch is None or self._at == len(batch):
            batch, self._at = next(self._batches), 0
            if not self._is_made:
                self._sizes = filter(None, batch.column("elements").to_pylist())
            self.number += 1
        self._batch = batch
        return batch
