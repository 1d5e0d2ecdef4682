"""The history of one row, by a log."""

from __future__ import annotations

from changewire.engines.changelog.find import Found, find
from changewire.engines.changelog.keys import Wanted
from changewire.engines.changelog.source import LogRows
from changewire.tables.history import History, history_of


def traced(log: LogRows, wanted: Wanted, table: str | None, *, truncates: bool) -> History:
    """Return what each change did to a row; no steps if the log does not have it.

    Raises:
        ValueError: Several keys, or several tables, are meant.
        OutputError: It is not a log.
        FramingError: The log cannot be read.
    """
    return history_in(find(log, wanted, table), truncates=truncates)


def history_in(found: Found, *, truncates: bool) -> History:
    """Return what the changes that were found did to their row."""
    if found.key is None:
        return History([], None, None)
    return history_of(
        found.key,
        found.changes,
        refused=found.refused,
        befores=found.befores,
        apply_as_truncates=truncates,
    )
