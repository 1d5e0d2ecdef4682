"""Batches that Spark has committed, as its ``StreamingQueryProgress`` reports them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import msgspec
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.counts import ConservationError
from changewire.engines.spark.jvm import last_progress
from changewire.engines.spark.observed import DECODED, DELIVERED

_MILLISECONDS: Final = 1000
_WRITTEN: Final = "addBatch"
"""Step that only a batch with rows has; Spark also reports triggers that found nothing."""

_COUNTS: Final = ("messages", "elements", "changes", "controls", "valid", "dead_letters")


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
        valid: Elements of a stream of `messages` that are no dead letters; it has no changes and
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


class _Source(msgspec.Struct, rename="camel"):
    """A source of a query; of other sources than Kafka offsets may be any JSON."""

    start_offset: Any = None
    end_offset: Any = None
    latest_offset: Any = None


class _Progress(msgspec.Struct, rename="camel"):
    """What is read of Spark's own JSON."""

    batch_id: int
    timestamp: datetime
    batch_duration: int = 0
    num_input_rows: int = 0
    duration_ms: dict[str, int] = msgspec.field(name="durationMs", default_factory=dict)
    sources: list[_Source] = []
    observed_metrics: dict[str, dict[str, Any]] = {}


def committed(query: StreamingQuery, after: int) -> list[BatchProgress]:
    """Return the batches of a query that were committed after one, in their order.

    Spark keeps the last 100 (``spark.sql.streaming.numRecentProgressUpdates``), so it must be
    asked regularly.
    """
    last = last_progress(query)
    if last is None:
        return []
    newest = read(last)
    # A trigger that found nothing has the number of the batch to come.
    if batch_id(last) - (newest is None) <= after:
        return []
    if newest is not None and newest.batch == after + 1:
        return [newest]
    found = (read(progress.json) for progress in query.recentProgress)
    return [progress for progress in found if progress is not None and progress.batch > after]


def batch_id(text: str) -> int:
    """Return the number of the batch that Spark's own JSON is about."""
    return msgspec.json.decode(text, type=_Progress).batch_id


def read(text: str) -> BatchProgress | None:
    """Return what a ``StreamingQueryProgress`` reports of a batch.

    None if no batch was committed, or if the query is not one of `land` or `apply_changes`.

    Args:
        text: Its JSON.
    """
    reported = msgspec.json.decode(text, type=_Progress)
    observed = {name: _named(metrics) for name, metrics in reported.observed_metrics.items()}
    counts = observed.get(DECODED)
    if _WRITTEN not in reported.duration_ms or counts is None:
        return None
    rows = _rows(reported, observed)
    seconds = reported.batch_duration / _MILLISECONDS
    return BatchProgress(
        batch=reported.batch_id,
        rows=rows,
        **{name: counts[name] for name in _COUNTS},
        seconds=seconds,
        rows_per_second=round(rows / max(seconds, 1e-3), 1),
        offset_gaps=_gaps(reported, rows),
        lag_offsets=_distance(reported.sources, "end_offset", "latest_offset"),
        lag_seconds=_lag(reported, counts["newest"]),
    )


def check(progress: BatchProgress) -> None:
    """Compare what the source delivered with what was decoded.

    Raises:
        ConservationError: They differ.
    """
    if progress.rows != progress.messages:
        raise ConservationError(
            f"batch {progress.batch}: the source delivered {progress.rows} messages, decoded were "
            f"{progress.messages}; the batch is written. Is there a filter behind `decode`?"
        )


def _named(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return what was observed by its names; Spark Connect gives it as a row beside its schema."""
    if metrics.keys() != {"schema", "values"}:
        return metrics
    names = [field["name"] for field in metrics["schema"]["fields"]]
    return dict(zip(names, metrics["values"], strict=True))


def _rows(reported: _Progress, observed: dict[str, dict[str, Any]]) -> int:
    counted = [metrics["rows"] for name, metrics in observed.items() if name.startswith(DELIVERED)]
    return sum(counted) if counted else reported.num_input_rows


def _gaps(reported: _Progress, rows: int) -> int | None:
    distance = _distance(reported.sources, "start_offset", "end_offset")
    return None if distance is None else max(distance - rows, 0)


def _distance(sources: list[_Source], first: str, last: str) -> int | None:
    """Return how many offsets lie between; None if a source or a partition lacks one."""
    total = 0
    for source in sources:
        begin, end = _offsets(getattr(source, first)), _offsets(getattr(source, last))
        if begin is None or end is None or begin.keys() != end.keys():
            return None
        total += sum(end[place] - begin[place] for place in end)
    return total if sources else None


def _offsets(reported: Any) -> dict[tuple[str, str], int] | None:
    """Return offset by topic and partition; None if these are no offsets of Kafka."""
    try:
        topics = msgspec.convert(reported, dict[str, dict[str, int]])
    except msgspec.ValidationError:
        return None
    return {(topic, number): at for topic, found in topics.items() for number, at in found.items()}


def _lag(reported: _Progress, newest: int | None) -> float | None:
    if newest is None:
        return None
    done = reported.timestamp.timestamp() * _MILLISECONDS + reported.batch_duration
    return max(round((done - newest) / _MILLISECONDS, 3), 0.0)
