"""What is said of a batch of a stream, in each engine: a line to read, and a line of JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Final

import msgspec

from changewire.codec.issues import printable
from changewire.engines.by_table import Applied, ChangesByTable, Unmatched
from changewire.engines.counts import Counts
from changewire.engines.options import BatchId, StreamListener
from changewire.version import VERSION

_COUNTS: Final = (
    *("messages", "elements", "changes", "controls", "valid", "dead_letters"),
    *("by_operation", "by_variant", "by_error_code", "leniencies"),
)
"""Not the tables and hours, of which a batch may have thousands."""

_NAME: Final = 80
"""Characters of a table's name in a line at most."""

_COMMITTED: Final = ("rows", "rows_per_second", "offset_gaps", "lag_offsets", "lag_seconds")


class BatchProgress(msgspec.Struct, frozen=True):
    """A batch that is in the checkpoint.

    Attributes:
        batch: Its number.
        rows: Rows that the source delivered.
        messages: Messages that were decoded of them.
        elements: Elements that the messages declare.
        changes: Elements that change a row.
        controls: Elements that are control events.
        dead_letters: Elements that were rejected.
        seconds: How long the batch took.
        rows_per_second: Rows by the time that the batch took.
        offset_gaps: Offsets without a record, as compaction and transactions leave them; None if
            Spark does not report it: for other sources than Kafka, in a partition's first batch.
        lag_offsets: Offsets behind the latest ones that the source knew; None as above.
        lag_seconds: How old the newest record was when the batch was done; None without Kafka's
            timestamps.
        valid: Elements of a stream of `messages` that are not dead letters; it has no changes and
            no control events.
    """

    batch: int
    rows: int
    messages: int
    elements: int
    changes: int
    controls: int
    dead_letters: int
    seconds: float
    rows_per_second: float
    offset_gaps: int | None
    lag_offsets: int | None
    lag_seconds: float | None
    valid: int = 0


def tell_committed(
    listener: StreamListener, batch: BatchId, counts: Counts, progress: BatchProgress
) -> None:
    """Call a listener with a batch that was committed."""
    if listener.notice is not None:
        listener.notice(_committed_text(progress))
    if listener.metrics is not None:
        reported = {name: getattr(progress, name) for name in _COMMITTED}
        listener.metrics(counts_as_json(batch, counts, progress.seconds, **reported))


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


def counts_as_json(batch: BatchId, counts: Counts, seconds: float, **reported: Any) -> str:
    """Return a line of JSON for a batch that was appended to a log."""
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


class AppliedBatches:
    """Sums what became of the changes of batches in tables, and reports each."""

    def __init__(self, listener: StreamListener) -> None:
        """Start with no batch; the listener gets lines for each."""
        self._listener = listener
        self._counts: Counter[str] = Counter()
        self._by_table = ChangesByTable()
        self._unmatched: Sequence[Unmatched] = ()

    def add(self, batch: BatchId, merged: Applied, seconds: float) -> None:
        """Add a batch of the log, and report it."""
        self._counts.update(merged.counts)
        self._by_table.add_all(merged.by_table)
        self._unmatched = merged.unmatched
        tell_applied(self._listener, batch, merged, seconds)

    @property
    def merged(self) -> Applied:
        """What became of the changes of all batches in tables."""
        return Applied(dict(sorted(self._counts.items())), self._by_table, self._unmatched)
