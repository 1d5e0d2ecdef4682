"""What is said of batches: a line to read, a line of JSON, and the sum of what a run commits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final

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

_COMMITTED: Final = ("rows", "rows_per_second", "offset_gaps", "lag_offsets", "lag_seconds")

_DeadLetters = list[dict[str, Any]]


def tell(  # noqa: PLR0917 - what a listener gets
    listener: StreamListener,
    batch: BatchId,
    counts: Counts,
    decoded: Frames,
    merged: Applied,
    seconds: float,
) -> None:
    """Call a listener with a batch that was written."""
    if listener.notice is not None:
        rate = counts.messages / max(seconds, 1e-6)
        (first, what), *others = counts.totals()
        parts = ", ".join(f"{number} {words}" for number, words in others)
        listener.notice(
            f"batch {batch.number}: {counts.messages} messages, {counts.elements} elements: "
            f"{first} {what}{_in_tables(merged.counts)}, {parts}; {seconds:.1f} s, "
            f"{rate:.0f} messages a second"
        )
    if listener.metrics is not None:
        listener.metrics(_as_json(batch, counts, merged, seconds))
    if listener.written is not None:
        listener.written(batch, counts, decoded, merged)


def _as_json(
    batch: BatchId, counts: Counts, merged: Applied, seconds: float, **reported: Any
) -> str:
    """Return a line of JSON; a batch that is retried has a second one with its query and number."""
    values = counts.as_dict()
    line: dict[str, Any] = {
        "query": batch.query,
        "batch": batch.number,
        "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 3),
        "version": VERSION,
        **{name: values[name] for name in _COUNTS if name in values},
        **({} if counts.native is None else {"native": counts.native._asdict()}),
        **({"tables": dict(merged.counts)} if merged.counts else {}),
        **reported,
    }
    return json.dumps(line)


def _committed_text(merged: Applied, progress: BatchProgress) -> str:
    """Return a line to read for a batch that was committed."""
    lag = ""
    if progress.lag_offsets is not None:
        lag = f", {progress.lag_offsets:,} offsets behind"
    if progress.lag_seconds is not None:
        lag += f", newest {progress.lag_seconds:,.1f} s old"
    gaps = f", {progress.offset_gaps:,} offset gaps" if progress.offset_gaps else ""
    return (
        f"batch {progress.batch}: {progress.messages:,} messages{_in_tables(merged.counts)}, "
        f"{progress.rows_per_second:,.0f} a second{lag}{gaps}, "
        f"{progress.dead_letters:,} dead letters"
    )


def _in_tables(merged: Mapping[str, int]) -> str:
    did = ", ".join(f"{n} {name}" for name, n in merged.items())
    return f" (in tables: {did})" if did else ""


class CommittedBatches:
    """Sums the batches that Spark commits; one that is only written is retried by the next run."""

    def __init__(self, counts: Counts, listener: StreamListener, *, show_values: bool) -> None:
        """Start with counts of nothing yet; the listener gets lines for each committed batch."""
        self.counts = counts
        self.letters: _DeadLetters = []
        self.tables: Counter[str] = Counter()
        self.by_table: ChangesByTable = ChangesByTable()
        self.unmatched: Unmatched | None = None
        self.totals: StreamTotals = StreamTotals("", 0, None, None, None)
        self._listener = listener
        self._show_values = show_values
        self._written: dict[int, tuple[BatchId, Counts, Applied, _DeadLetters]] = {}

    def written(self, batch: BatchId, counts: Counts, decoded: Frames, merged: Applied) -> None:
        """Keep what is said of a batch until it is committed."""
        wanted = FIRST_DEAD_LETTERS - len(self.letters)
        letters: _DeadLetters = []
        if counts.dead_letters and wanted > 0:
            letters = first_dead_letters(decoded.rows, limit=wanted, show_values=self._show_values)
        self._written[batch.number] = batch, counts, merged, letters

    def committed(self, progress: BatchProgress) -> None:
        """Add a batch that was committed, and report it."""
        batch, counts, merged, letters = self._written.pop(progress.batch)
        self.counts.add_all(counts)
        self.tables.update(merged.counts)
        self.by_table.add_all(merged.by_table)
        self.unmatched = merged.unmatched
        self.letters += letters[: FIRST_DEAD_LETTERS - len(self.letters)]
        gaps = self.totals.offset_gaps
        if progress.offset_gaps is not None:
            gaps = (gaps or 0) + progress.offset_gaps
        number = self.totals.batches + 1
        self.totals = StreamTotals(batch.query, number, gaps, progress.lag_offsets, None)
        if self._listener.notice is not None:
            self._listener.notice(_committed_text(merged, progress))
        if self._listener.metrics is not None:
            reported = {name: getattr(progress, name) for name in _COMMITTED}
            line = _as_json(batch, counts, merged, progress.seconds, **reported)
            self._listener.metrics(line)
