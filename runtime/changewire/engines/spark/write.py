"""Decoded rows to tables: decode once, count, compare, and only then write."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.storagelevel import StorageLevel

from changewire.engines.counts import Counts
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.outcome import FIRST_DEAD_LETTERS, PLACE_COLUMNS
from changewire.engines.outputs import PLACE_ORDER
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.messages import MessageFrames

AnyFrames = TypeVar("AnyFrames", bound=Frames)


def write(
    decoded: DecodedFrames | MessageFrames,
    output: str,
    *,
    sink: str = "parquet",
    options: Mapping[str, str] | None = None,
    mode: str = "overwrite",
    show_values: bool = False,
) -> tuple[Counts, list[dict[str, Any]]]:
    """Write changes, control events and dead letters, or messages, each to its own folder.

    The rows are decoded once and kept while they are counted and written. Nothing is written
    before ``elements = changes + controls + dead_letters`` was found to hold, or ``elements = valid
    + dead_letters`` of messages.

    Args:
        decoded: From `decode` or `messages`.
        output: Folder, or prefix of paths, for ``changes``, ``controls`` and ``dead_letters``, or
            for ``messages`` and ``dead_letters``.
        sink: Any batch format of Spark.
        options: Options of that format.
        mode: ``overwrite``, ``append`` or ``error``, as Spark has them.
        show_values: Whether the first dead letters show the start of their values.

    Returns:
        The counts, and the first dead letters by position.

    Raises:
        ConservationError: The decoded rows do not add up.
    """
    with persisted(decoded) as rows:
        counts = rows.counts
        if isinstance(decoded, DecodedFrames) and decoded.native is not None:
            counts.native = decoded.native.take()
        for name, kind in decoded.outputs.items():
            writer = rows.of_kind(kind).write.format(sink).mode(mode).options(**(options or {}))
            writer.save(f"{output}/{name}")
        return counts, first_dead_letters(rows, show_values=show_values)


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
