"""What is said of batches: a line to read, a line of JSON, and the sum of what a run commits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Final

from changewire.codec.issues import printable
from changewire.engines.by_table import Applied, ChangesByTable, Unmatched
from changewire.engines.counts import Counts
from changewire.engines.options import BatchId, StreamListener
from changewire.engines.outcome import FIRST_DEAD_LETTERS, StreamTotals
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.write import first_dead_letters
from changewire.engines.spark.stream.progress import BatchProgress
from changewire.version import VERSION

_COUNTS: Final = (
    *("messages", "elements", "changes", "controls", "valid", "dead_letters"),
    *("by_operation", "by_variant", "by_error_code", "leniencies"),
)
"""Not the tables and hours, of which a batch may have thousands."""

_NAME: Final = 80
"""Characters of a table's name in a line at most."""

_COMMITTED: Final = ("rows", "rows_per_second", "offset_gaps", "lag_offsets", "lag_seconds")

_DeadLetters = list[dict[str, Any]]


def tell(
    listener: StreamListener, batch: BatchId, counts: Counts, decoded: Frames, seconds: float
) -> None:
    """Call a listener with a batch that was appended to a log."""
    if listener.notice is not None:
        rate = counts.messages / max(seconds, 1e-6)
        (first, what), *others = counts.totals()
        parts = ", ".join(f"{number} {words}" for number, words in others)
        listener.notice(
            f"batch {batch.number}: {counts.messages} messages, {counts.elements} elements: "
            f"{first} {what}, {parts}; {seconds:.1f} s, "
            f"{rate:.0f} messages a second"
        )
    if listener.metrics is not None:
        listener.metrics(_counts_as_json(batch, counts, seconds))
    if listener.written is not None:
        listener.written(batch, counts, decoded)


def tell_applied(listener: StreamListener, batch: BatchId, merged: Applied, seconds: float) -> None:
    """Call a listener with a batch of a log that was merged into tables."""
    if listener.notice is not None:
        done = ", ".join(f"{number} {name}" for name, number in merged.counts.items())
        listener.notice(f"tables, batch {batch.number}: {done or 'nothing'}; {seconds:.1f} s")
    if listener.metrics is not None:
        by_table = merged.by_table.renamed(lambda name: printable(name[:_NAME]))
        numbers = {name: one.numbers() for name, one in by_table.items()}
        tables = dict(merged.counts)
        listener.metrics(_as_json(batch, seconds, tables=tables, changes_by_table=numbers))
    if listener.applied is not None:
        listener.applied(batch, merged, seconds)


def _counts_as_json(batch: BatchId, counts: Counts, seconds: float, **reported: Any) -> str:
    values: dict[str, Any] = {**counts.as_dict()}
    found: dict[str, Any] = {name: values[name] for name in _COUNTS if name in values}
    if counts.native is not None:
        found["native"] = counts.native._asdict()
    return _as_json(batch, seconds, **found, **reported)


def _as_json(batch: BatchId, seconds: float, **reported: Any) -> str:
    """Return a line of JSON; a batch that is retried has a second one with its query and number."""
    line: dict[str, Any] = {
        "query": batch.query,
        "batch": batch.number,
        "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 3),
        "version": VERSION,
        **reported,
    }
    return json.dumps(line)


def _committed_text(progress: BatchProgress) -> str:
    """Return a line to read for a batch that was committed."""
    lag = ""
    if progress.lag_offsets is not None:
        lag = f", {progress.lag_offsets:,} offsets behind"
    if progress.lag_seconds is not None:
        lag += f", newest {progress.lag_seconds:,.1f} s old"
    gaps = f", {progress.offset_gaps:,} offset gaps" if progress.offset_gaps else ""
    return (
        f"batch {progress.batch}: {progress.messages:,} messages, "
        f"{progress.rows_per_second:,.0f} a second{lag}{gaps}, "
        f"{progress.dead_letters:,} dead letters"
    )


class CommittedBatches:
    """Sums the batches that Spark commits; one that is only written is retried by the next run."""

    def __init__(
        self, counts: Counts, listener: StreamListener, *, show_values: bool = False
    ) -> None:
        """Start with counts of nothing yet; the listener gets lines for each committed batch."""
        self.counts = counts
        self.letters: _DeadLetters = []
        self.tables: Counter[str] = Counter()
        self.by_table: ChangesByTable = ChangesByTable()
        self.unmatched: Sequence[Unmatched] = ()
        self.totals: StreamTotals = StreamTotals("", 0, None, None, None)
        self._listener = listener
        self._show_values = show_values
        self._written: dict[int, tuple[BatchId, Counts, _DeadLetters]] = {}

    def written(self, batch: BatchId, counts: Counts, decoded: Frames) -> None:
        """Keep what is said of a batch until it is committed."""
        wanted = FIRST_DEAD_LETTERS - len(self.letters)
        letters: _DeadLetters = []
        if counts.dead_letters and wanted > 0:
            letters = first_dead_letters(decoded.rows, limit=wanted, show_values=self._show_values)
        self._written[batch.number] = batch, counts, letters

    def applied(self, batch: BatchId, merged: Applied, seconds: float) -> None:
        """Add what became of the changes of a batch of the log, and report it."""
        self.tables.update(merged.counts)
        self.by_table.add_all(merged.by_table)
        self.unmatched = merged.unmatched
        tell_applied(self._listener, batch, merged, seconds)

    @property
    def merged(self) -> Applied:
        """What became of the changes of all batches in tables."""
        return Applied(dict(sorted(self.tables.items())), self.by_table, self.unmatched)

    def committed(self, progress: BatchProgress) -> None:
        """Add a batch that was committed, and report it."""
        batch, counts, letters = self._written.pop(progress.batch)
        self.counts.add_all(counts)
        self.letters += letters[: FIRST_DEAD_LETTERS - len(self.letters)]
        gaps = self.totals.offset_gaps
        if progress.offset_gaps is not None:
            gaps = (gaps or 0) + progress.offset_gaps
        number = self.totals.batches + 1
        self.totals = StreamTotals(batch.query, number, gaps, progress.lag_offsets, None)
        if self._listener.notice is not None:
            self._listener.notice(_committed_text(progress))
        if self._listener.metrics is not None:
            reported = {name: getattr(progress, name) for name in _COMMITTED}
            line = _counts_as_json(batch, counts, progress.seconds, **reported)
            self._listener.metrics(line)
