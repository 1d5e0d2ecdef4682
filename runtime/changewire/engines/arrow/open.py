"""What of a log is open: dead letters, and changes that no table took."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import pyarrow as pa

from changewire.engines.changelog.logged import place_of
from changewire.engines.changelog.source import KIND, ChangeLog, LogRows
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, MESSAGE
from changewire.engines.log import ATTEMPT, ELEMENT_PLACE, REFUSED


def dead_letters(log: ChangeLog) -> pa.Table:
    """Return the dead letters of a log that were not replayed, with reasons and original bytes.

    A replay that decodes a dead letter appends a row with the same position, which closes it.
    Memory contains all dead letters.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table.

    Returns:
        Rows of the log.

    Raises:
        OutputError: It is not a log.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    kinds = (CHANGE, CONTROL, MESSAGE)
    return _open(LogRows(log), DEAD_LETTER, kinds, lambda _other, _attempt: True)


def refused(log: ChangeLog) -> pa.Table:
    """Return the changes of a log that no table took, with the reason of each.

    A replay that applies one appends a row with the same position, which closes it. Memory contains
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
    return _open(LogRows(log), REFUSED, (CHANGE,), lambda other, attempt: other > attempt)


def _open(
    log: LogRows, kind: str, others: Collection[str], closes: Callable[[int, int], bool]
) -> pa.Table:
    """Return the newest row of a kind at each place that no other row closes."""
    place = [*ELEMENT_PLACE, ATTEMPT]
    log.check(KIND, *place)
    found = pa.Table.from_batches(log.batches((kind,)), log.schema)
    newest: dict[Any, tuple[int, int]] = {}
    for number, row in enumerate(found.select(place).to_pylist()):
        at = place_of(row)
        newest[at] = max((row[ATTEMPT], -number), newest.get(at, (-1, 0)))
    for batch in log.batches(others, place) if newest else ():
        for row in batch.select(place).to_pylist():
            at = place_of(row)
            if at in newest and closes(row[ATTEMPT], newest[at][0]):
                del newest[at]
    return found.take(pa.array(sorted(-number for _, number in newest.values()), pa.int64()))
