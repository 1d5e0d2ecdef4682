"""Decoded rows of a DataFrame to a log: decode once, count, compare, and only then append."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.counts import Counts
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.outcome import FIRST_DEAD_LETTERS, PLACE_COLUMNS, PLACE_ORDER
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import lacking, log_rows
from changewire.engines.spark.messages import MessageFrames


class Written(NamedTuple):
    """What was appended to a log.

    Attributes:
        counts: Checked counts of all decoded elements.
        already_in_log: How many of the elements the log had already.
        dead_letters: The first dead letters by position, with the columns of a report.
    """

    counts: Counts
    already_in_log: int
    dead_letters: list[dict[str, Any]]


def write(
    decoded: DecodedFrames | MessageFrames,
    log: str,
    *,
    table_format: str = "delta",
    show_values: bool = False,
) -> Written:
    """Append decoded messages to a log, each element once: elements of the log are left out.

    The rows are decoded once and kept while they are counted and appended. Nothing is written
    before ``elements = changes + controls + dead_letters`` was found to be true, or ``elements =
    valid + dead_letters`` of messages. An element is known by its position: topic, partition and
    offset, or path and number. Elements without a position are always appended. An element of
    which the log has dead letters alone is appended as a later attempt, unless it is a dead letter
    of the same bytes.

    Args:
        decoded: From `decode` or `messages`, of a DataFrame that is not a stream.
        log: Path of the log (it has a slash), or name of its table.
        table_format: Format of the log: ``delta``, ``iceberg`` or ``parquet``.
        show_values: Whether the first dead letters show the start of their values.

    Raises:
        ConservationError: The decoded rows do not add up.
        OutputError: The log has other columns, or Spark does not know its format.
        ValueError: There is no such table format, or the rows are a stream.
    """
    if decoded.rows.isStreaming:
        raise ValueError("write takes no stream; use `changewire.spark.land`")
    return written(decoded, LogPlace(log, table_format), show_values=show_values)


def written(
    decoded: DecodedFrames | MessageFrames,
    place: LogPlace,
    *,
    show_values: bool,
    check: Callable[[DataFrame, Counts], None] | None = None,
) -> Written:
    """Append decoded messages to a log, as `write` does, if a check of them raises nothing."""
    spark = decoded.rows.sparkSession
    is_there = place.check(spark, log_rows(decoded.rows).schema)
    rows = decoded.rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        kept = replace(decoded, rows=rows)
        counts, found, known = kept.counts, log_rows(rows), 0
        if check is not None:
            check(rows, counts)
        if is_there:
            found = lacking(found, place.read(spark))
            known = counts.elements - found.count()
        place.add(found)
        return Written(counts, known, first_dead_letters(rows, show_values=show_values))
    finally:
        rows.unpersist()


def first_dead_letters(
    rows: DataFrame, *, limit: int = FIRST_DEAD_LETTERS, show_values: bool = False
) -> list[dict[str, Any]]:
    """Return the first dead letters by position, with the columns of a report."""
    columns = [*PLACE_COLUMNS, *(["value"] if show_values else [])]
    letters = rows.where(F.col("kind") == DEAD_LETTER).orderBy(*PLACE_ORDER)
    return [row.asDict() for row in letters.limit(limit).select(*columns).collect()]
