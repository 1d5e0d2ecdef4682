"""The log: one row for each element that was read, the same columns in every engine.

A change or a dead letter may have later rows with its position: a `REFUSED` row says that no table
took the change, and a row with a greater ``attempt`` is what a replay made of it.
"""

from __future__ import annotations

from typing import Final

from changewire.engines.layout import (
    CHANGE_COLUMNS,
    RECORD_COLUMNS,
    RECORD_PLACE,
    REJECTION_COLUMNS,
)

REFUSED: Final = "refused"
"""Kind of a row that says why no table takes a change."""

ATTEMPT: Final = "attempt"
"""Column: 0 when an element is landed, and one more for each replay of it."""

_ENDS: Final = (*REJECTION_COLUMNS, "record_key", "value", *RECORD_COLUMNS, "version", ATTEMPT)

LOG_COLUMNS: Final = ("kind", *CHANGE_COLUMNS, "leniencies", "element", *_ENDS)
"""Columns of a log of changes, control events and dead letters."""

MESSAGE_LOG_COLUMNS: Final = ("kind", "variant", "content", "leniencies", "element", *_ENDS)
"""Columns of a log of messages as they are."""

ELEMENT_PLACE: Final = (*RECORD_PLACE, "element")
"""Columns that tell one element from all others."""

STATISTICS: Final = (
    *("event_time", "timestamp", "topic", "partition", "offset", "path", "number"),
    "sequence.major",
)
"""Columns that Delta keeps statistics of, by which queries skip files: those that grow from file to
file. Most others are text, of which statistics cost much and let little be skipped."""

STATISTICS_OPTION: Final = "delta.dataSkippingStatsColumns"
"""Property of a Delta table that names them."""
