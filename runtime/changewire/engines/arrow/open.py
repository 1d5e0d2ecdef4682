"""What of a log is open: dead letters, and changes that no table took."""

from __future__ import annotations

import pyarrow as pa

from changewire.engines.changelog.open import open_letters, open_refusals
from changewire.engines.changelog.source import ChangeLog, LogRows


def dead_letters(log: ChangeLog) -> pa.Table:
    """Return the dead letters of a log that were not replayed, with reasons and original bytes.

    A replay that decodes a dead letter appends a row with the same position, which closes it.
    Memory holds all dead letters.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table.

    Returns:
        Rows of the log.

    Raises:
        OutputError: It is not a log.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    return open_letters(LogRows(log))


def refused(log: ChangeLog) -> pa.Table:
    """Return the changes of a log that no table took, with the reason of each.

    A replay that applies one appends a row with the same position, which closes it. Memory holds
    all refused changes.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table.

    Returns:
        Rows of the log.

    Raises:
        OutputError: It is not a log.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    return open_refusals(LogRows(log))
