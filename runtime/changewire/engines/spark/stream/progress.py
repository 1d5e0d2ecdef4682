"""What Spark counts of a stream on its way, and reports of each batch that it has committed.

Both counts are taken in the task that reads and decodes, so a task that is retried counts
on both sides alike: unlike ``numInputRows``, they are equal whenever nothing was lost.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.batch_lines import BatchProgress
from changewire.engines.counts import ConservationError, Counts, MessageCounts
from changewire.engines.spark.jvm import last_progress

_DELIVERED: Final = "changewire_delivered"
"""Begins the names of what is counted below `decode`."""

_DECODED: Final = "changewire_decoded"
"""Name of what is counted above it."""

_KINDS: Final = {name: kind for name, (kind, _) in (MessageCounts.kinds | Counts.kinds).items()}
_MILLISECONDS: Final = 1000
_WRITTEN: Final = "addBatch"
"""Step that only a batch with rows has; Spark also reports triggers that found nothing."""


def delivered(messages: DataFrame) -> DataFrame:
    """Let a stream count the ``rows`` that its source delivers; other DataFrames stay as they are.

    The name is drawn, because a query may join what several calls of `decode` made, and Spark
    refuses two observations of one name.
    """
    if not messages.isStreaming:
        return messages
    return messages.observe(f"{_DELIVERED}_{uuid4().hex}", F.count(F.lit(1)).alias("rows"))


def observed(rows: DataFrame) -> DataFrame:
    """Let a stream of decoded rows count what it carries, and report the newest record's time."""
    return rows.observe(
        _DECODED,
        F.count_if(F.col("element") == 0).alias("messages"),
        F.coalesce(F.sum("elements"), F.lit(0)).alias("elements"),
        *(F.count_if(F.col("kind") == kind).alias(name) for name, kind in _KINDS.items()),
        F.unix_millis(F.max("timestamp")).alias("newest"),
    )


class _Progress(msgspec.Struct, rename="camel"):
    """What is read of Spark's own JSON."""

    batch_id: int
    timestamp: datetime
    batch_duration: int = 0
    num_input_rows: int = 0
    duration_ms: dict[str, int] = msgspec.field(name="durationMs", default_factory=dict)
    sources: list[dict[str, Any]] = []
    observed_metrics: dict[str, dict[str, Any]] = {}


def committed(query: StreamingQuery, after: int) -> list[BatchProgress]:
    """Return the batches committed after one; Spark keeps the reports of the last 100 only."""
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
    """Return what the JSON of a report says of a batch; None if it committed no batch."""
    parsed = msgspec.json.decode(text, type=_Progress)
    metrics = {name: _named(found) for name, found in parsed.observed_metrics.items()}
    counts = metrics.pop(_DECODED, None)
    if _WRITTEN not in parsed.duration_ms or counts is None:
        return None
    newest = counts.pop("newest")
    counted = [found["rows"] for name, found in metrics.items() if name.startswith(_DELIVERED)]
    rows = sum(counted) if counted else parsed.num_input_rows
    seconds = parsed.batch_duration / _MILLISECONDS
    distance = _distance(parsed.sources, "startOffset", "endOffset")
    done = parsed.timestamp.timestamp() + seconds
    return BatchProgress(
        batch=parsed.batch_id,
        rows=rows,
        **counts,
        seconds=seconds,
        rows_per_second=round(rows / max(seconds, 1e-3), 1),
        offset_gaps=None if distance is None else max(distance - rows, 0),
        lag_offsets=_distance(parsed.sources, "endOffset", "latestOffset"),
        lag_seconds=None if newest is None else max(round(done - newest / _MILLISECONDS, 3), 0.0),
    )


def check(progress: BatchProgress) -> None:
    """Raise ConservationError if other messages were decoded than the source delivered."""
    if progress.rows != progress.messages:
        raise ConservationError(
            f"batch {progress.batch}: the source delivered {progress.rows} messages, decoded were "
            f"{progress.messages}; the batch is written. Does a filter follow `decode`?"
        )


def _named(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return what was observed by its names; Spark Connect gives it as a row next to its schema."""
    if metrics.keys() != {"schema", "values"}:
        return metrics
    names = [field["name"] for field in metrics["schema"]["fields"]]
    return dict(zip(names, metrics["values"], strict=True))


def _distance(sources: list[dict[str, Any]], first: str, last: str) -> int | None:
    """Return how many offsets lie between; None if a source or a partition lacks one."""
    total = 0
    for source in sources:
        begin, end = _offsets(source.get(first)), _offsets(source.get(last))
        if begin is None or end is None or begin.keys() != end.keys():
            return None
        total += sum(end[place] - begin[place] for place in end)
    return total if sources else None


def _offsets(reported: Any) -> dict[tuple[str, str], int] | None:
    """Return offset by topic and partition; None for what other sources than Kafka report."""
    try:
        topics = msgspec.convert(reported, dict[str, dict[str, int]])
    except msgspec.ValidationError:
        return None
    return {(topic, number): at for topic, found in topics.items() for number, at in found.items()}
