"""The sum of the batches that a run committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from changewire.engines.counts import Counts
from changewire.engines.outcome import FIRST_DEAD_LETTERS, StreamTotals
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.stream.committed import BatchProgress
from changewire.engines.spark.stream.progress import committed_as_json, committed_as_text
from changewire.engines.spark.stream.sinks import BatchId
from changewire.engines.spark.write import first_dead_letters

_Letters = list[dict[str, Any]]


class Totals:
    """Sums what `write_stream` and `await_end` tell of batches.

    A batch counts when Spark has committed it: one that was written and not committed is done
    again by the next run, and counts there.

    Attributes:
        counts: Counts of all committed batches.
        letters: The first dead letters, in the order of their batches.
        tables: What became of their changes in tables, as `changewire.tables.Result.counts`.
    """

    def __init__(
        self,
        notice: Callable[[str], None] | None,
        metrics: Callable[[str], None] | None,
        *,
        show_values: bool,
    ) -> None:
        """Start at nothing.

        Args:
            notice: Gets a line to read for each committed batch.
            metrics: Gets a line of JSON for each committed batch.
            show_values: Whether dead letters show the start of their values.
        """
        self.counts = Counts()
        self.letters: _Letters = []
        self.tables: Counter[str] = Counter()
        self._notice = notice
        self._metrics = metrics
        self._show_values = show_values
        self._written: dict[int, tuple[BatchId, Counts, _Letters]] = {}
        self._merged: dict[int, Counter[str]] = {}
        self._batches = 0
        self._query = ""
        self._gaps: int | None = None
        self._lag: int | None = None

    def written(self, batch: BatchId, counts: Counts, decoded: Decoded) -> None:
        """Keep what a batch held until it is committed."""
        wanted = FIRST_DEAD_LETTERS - len(self.letters)
        letters: _Letters = []
        if counts.dead_letters and wanted > 0:
            letters = first_dead_letters(decoded, limit=wanted, show_values=self._show_values)
        self._written[batch.number] = batch, counts, letters

    def merged(self, line: str) -> None:
        """Keep what became of a batch in tables until it is committed.

        Args:
            line: What `progress.as_json` tells of it.
        """
        told = msgspec.json.decode(line)
        self._merged[told["batch"]] = Counter(told.get("tables", {}))

    def committed(self, progress: BatchProgress) -> None:
        """Add a batch that was committed, and tell of it."""
        batch, counts, letters = self._written.pop(progress.batch)
        tables = self._merged.pop(progress.batch)
        self.counts.add_all(counts)
        self.tables += tables
        self.letters += letters[: FIRST_DEAD_LETTERS - len(self.letters)]
        self._query = batch.query
        self._batches += 1
        self._lag = progress.lag_offsets
        if progress.offset_gaps is not None:
            self._gaps = (self._gaps or 0) + progress.offset_gaps
        if self._notice is not None:
            self._notice(committed_as_text(tables, progress))
        if self._metrics is not None:
            self._metrics(committed_as_json(batch, counts, tables, progress))

    def stream(self, signal: str | None) -> StreamTotals:
        """Return what a streaming query adds to an outcome."""
        return StreamTotals(self._query, self._batches, self._gaps, self._lag, signal)
