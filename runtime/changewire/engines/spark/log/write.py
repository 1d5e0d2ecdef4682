"""Decoded rows of a DataFrame to a log: decode once, count, compare, and only then append."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import and_, or_
from typing import Any, Final, NamedTuple, TypeVar

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.counts import Counts
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.log import ELEMENT_PLACE
from changewire.engines.outcome import FIRST_DEAD_LETTERS, PLACE_COLUMNS, PLACE_ORDER
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.place import LogPlace, check_sink
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.messages import MessageFrames

AnyFrames = TypeVar("AnyFrames", bound=Frames)

_POSITIONED: Final = ("offset", "number")
"""Columns of which one is not NULL in a record that has a position."""


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
    sink: str = "delta",
    show_values: bool = False,
) -> Written:
    """Append decoded messages to a log, each element once: what the log has already is left out.

    The rows are decoded once and kept while they are counted and appended. Nothing is written
    before ``elements = changes + controls + dead_letters`` was found to hold, or ``elements = valid
    + dead_letters`` of messages. An element is known by its position: topic, partition and offset,
    or path and number. Elements without a position are always appended.

    Args:
        decoded: From `decode` or `messages`, of a DataFrame that is not a stream.
        log: Path of the log (it has a slash), or name of its table.
        sink: Format of the log: ``delta``, ``iceberg`` or ``parquet``.
        show_values: Whether the first dead letters show the start of their values.

    Raises:
        ConservationError: The decoded rows do not add up.
        OutputError: The log has other columns, or Spark does not know its format.
        ValueError: There is no such sink, or the rows are a stream.
    """
    place = check_sink(LogPlace(log, sink))
    if decoded.rows.isStreaming:
        raise ValueError("write takes no stream; use `changewire.spark.land`")
    with persisted(decoded) as rows:
        counts = rows.counts
        if isinstance(decoded, DecodedFrames) and decoded.native is not None:
            counts.native = decoded.native.take()
        found = log_rows(rows.rows)
        there = place.check(found.sparkSession, found.schema)
        known = 0
        if there:
            found = lacking(found, place.read(found.sparkSession))
            known = counts.elements - found.count()
        place.add(found)
        return Written(counts, known, first_dead_letters(rows, show_values=show_values))


def lacking(rows: DataFrame, log: DataFrame) -> DataFrame:
    """Return the rows that a log does not have, and all that have no position."""
    one, other = rows.alias("row"), log.select(*ELEMENT_PLACE).alias("log")
    is_same = (F.col(f"row.{name}").eqNullSafe(F.col(f"log.{name}")) for name in ELEMENT_PLACE)
    has_position = reduce(or_, (F.col(f"row.{name}").isNotNull() for name in _POSITIONED))
    return one.join(other, reduce(and_, is_same) & has_position, "left_anti")


@contextmanager
def persisted(decoded: AnyFrames) -> Generator[AnyFrames, None, None]:
    """Persist decoded rows while they are counted and written."""
    rows = decoded.rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield replace(decoded, rows=rows)
    finally:
        rows.unpersist()


def first_dead_letters(
    decoded: Frames, *, limit: int = FIRST_DEAD_LETTERS, show_values: bool
) -> list[dict[str, Any]]:
    """Return the first dead letters by position, with the columns of a report."""
    columns = [*PLACE_COLUMNS, *(["value"] if show_values else [])]
    letters = decoded.of_kind(DEAD_LETTER).orderBy(*(F.col(name) for name in PLACE_ORDER))
    return [row.asDict() for row in letters.limit(limit).select(*columns).collect()]
