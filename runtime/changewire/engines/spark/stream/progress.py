"""What a batch did: a line to read, and a line of JSON."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Final

from changewire.engines.counts import Counts
from changewire.engines.spark.stream.sinks import BatchId
from changewire.version import VERSION

_COUNTS: Final = (
    "messages",
    "elements",
    "changes",
    "controls",
    "dead_letters",
    "by_operation",
    "by_error_code",
    "leniencies",
)
"""Not the tables and hours, of which a batch may have thousands."""


def as_text(batch: BatchId, counts: Counts, seconds: float) -> str:
    """Return a line to read."""
    rate = counts.messages / max(seconds, 1e-6)
    return (
        f"batch {batch.number}: {counts.messages} messages, {counts.elements} elements: "
        f"{counts.changes} changes, {counts.controls} control events, "
        f"{counts.dead_letters} dead letters; {seconds:.1f} s, {rate:.0f} messages a second"
    )


def as_json(batch: BatchId, counts: Counts, seconds: float) -> str:
    """Return a line of JSON: ``query``, ``batch``, ``time``, ``seconds`` and the counts.

    A batch that is done again has a second line with the same ``query`` and ``batch``.
    """
    told = counts.as_dict()
    line = {
        "query": batch.query,
        "batch": batch.number,
        "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 3),
        "version": VERSION,
        **{name: told[name] for name in _COUNTS},
    }
    return json.dumps(line)
