"""What each change did to one row, by a log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire.engines.changelog.keys import wanted_key
from changewire.engines.changelog.source import ChangeLog, LogRows
from changewire.engines.changelog.trace import traced
from changewire.tables.history import History


def trace(
    log: ChangeLog,
    key: Mapping[str, Any],
    *,
    table: str | None = None,
    apply_truncates: bool = False,
) -> History:
    """Return what each change did to a row, in the order of the log, and why others did nothing.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table.
        key: Columns that name the row, with the values that the log has: ``{"id": 1004}``.
        table: The table, as ``database.table`` in the messages; None if no other has the key.
        apply_truncates: Whether truncates remove rows.

    Returns:
        A step for each change, and the row after them; no steps if the log does not have the key.

    Raises:
        ValueError: The key has no column, or several tables have it.
        OutputError: It is not a log.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    return traced(LogRows(log), wanted_key(key), table, truncates=apply_truncates)
