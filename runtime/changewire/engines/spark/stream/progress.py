"""What a batch did: a line to read, and a line of JSON."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Final

import msgspec

from changewire.engines.counts import Counts
from changewire.engines.options import BatchId, TableCounts
from changewire.engines.spark.stream.committed import BatchProgress
from changewire.version import VERSION

_COUNTS: Final = (
    "messages",
    "elements",
    "changes",
    "controls",
    "valid",
    "dead_letters",
    "by_operation",
    "by_variant",
    "by_error_code",
    "leniencies",
)
"""Not the tables and hours, of which a batch may have thousands."""

_COMMITTED: Final = ("rows", "rows_per_second", "offset_gaps", "lag_offsets", "lag_seconds")


def as_text(batch: BatchId, counts: Counts, merged: TableCounts, seconds: float) -> str:
    """Return a line to read."""
    rate = counts.messages / max(seconds, 1e-6)
    (first, what), *others = counts.totals()
    parts = ", ".join(f"{number} {words}" for number, words in others)
    return (
        f"batch {batch.number}: {counts.messages} messages, {counts.elements} elements: "
        f"{first} {what}{_in_tables(merged)}, {parts}; {seconds:.1f} s, "
        f"{rate:.0f} messages a second"
    )


def as_json(batch: BatchId, counts: Counts, merged: TableCounts, seconds: float) -> str:
    """Return a line of JSON: ``query``, ``batch``, ``time``, ``seconds`` and the counts.

    ``native`` is what the native kernel had to do, where it had a part; ``tables`` is what became
    of changes in tables, if the query has some.

    A batch that is retried has a second line with the same ``query`` and ``batch``.
    """
    return json.dumps(_values(batch, counts, merged, seconds))


def committed_as_json(
    batch: BatchId, counts: Counts, merged: TableCounts, progress: BatchProgress
) -> str:
    """Return the same line for a batch that was committed, with what Spark reports of it."""
    reported = msgspec.to_builtins(progress)
    more = {name: reported[name] for name in _COMMITTED}
    return json.dumps({**_values(batch, counts, merged, progress.seconds), **more})


def committed_as_text(merged: TableCounts, progress: BatchProgress) -> str:
    """Return a line to read for a batch that was committed."""
    lag = ""
    if progress.lag_offsets is not None:
        lag = f", {progress.lag_offsets:,} offsets behind"
    if progress.lag_seconds is not None:
        lag += f", newest {progress.lag_seconds:,.1f} s old"
    gaps = f", {progress.offset_gaps:,} offset gaps" if progress.offset_gaps else ""
    return (
        f"batch {progress.batch}: {progress.messages:,} messages{_in_tables(merged)}, "
        f"{progress.rows_per_second:,.0f} a second{lag}{gaps}, "
        f"{progress.dead_letters:,} dead letters"
    )


def _in_tables(merged: TableCounts) -> str:
    did = ", ".join(f"{n} {name}" for name, n in merged.items())
    return f" (in tables: {did})" if did else ""


def _values(batch: BatchId, counts: Counts, merged: TableCounts, seconds: float) -> dict[str, Any]:
    values = counts.as_dict()
    return {
        "query": batch.query,
        "batch": batch.number,
        "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 3),
        "version": VERSION,
        **{name: values[name] for name in _COUNTS if name in values},
        **({} if counts.native is None else {"native": counts.native._asdict()}),
        **({"tables": dict(merged)} if merged else {}),
    }
