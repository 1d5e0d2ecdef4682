"""Dead letters and refused changes of a log that no later row has closed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import count
from typing import Any

import pyarrow as pa

from changewire.engines.changelog.logged import place_of
from changewire.engines.changelog.source import KIND, LogRows
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, MESSAGE
from changewire.engines.log import ATTEMPT, ELEMENT_PLACE, REFUSED


def open_letters(log: LogRows) -> pa.Table:
    """Return the dead letters that were not replayed: any other row at their place closes them.

    Memory holds all dead letters.

    Raises:
        OutputError: It is not a log.
        FramingError: It cannot be read.
    """
    return _open(log, DEAD_LETTER, (CHANGE, CONTROL, MESSAGE), _always)


def open_refusals(log: LogRows) -> pa.Table:
    """Return why no table took changes; a change that was replayed later closes a refusal.

    Memory holds all refused changes.

    Raises:
        OutputError: It is not a log.
        FramingError: It cannot be read.
    """
    return _open(log, REFUSED, (CHANGE,), lambda other, attempt: other > attempt)


def _always(_other: int, _attempt: int) -> bool:
    return True


def _open(
    log: LogRows, kind: str, others: Collection[str], closes: Callable[[int, int], bool]
) -> pa.Table:
    """Return the newest row of a kind at each place that no other row closes."""
    log.check(KIND, ATTEMPT, *ELEMENT_PLACE)
    found = pa.Table.from_batches(log.batches((kind,)), log.schema)
    newest: dict[Any, tuple[int, int]] = {}
    for number, (place, attempt) in enumerate(_places(found)):
        if place not in newest or attempt > newest[place][0]:
            newest[place] = attempt, number
    for batch in log.batches(others, (KIND, ATTEMPT, *ELEMENT_PLACE)) if newest else ():
        for place, attempt in _places(batch, first=-1, step=-1):
            if place in newest and closes(attempt, newest[place][0]):
                del newest[place]
    return found.take(pa.array(sorted(number for _, number in newest.values()), pa.int64()))


def _places(rows: Any, first: int = 0, step: int = 1) -> Iterator[tuple[Any, int]]:
    """Yield the place and the attempt of each row; rows without a place have none in common."""
    columns = zip(count(first, step), rows.select([*ELEMENT_PLACE, ATTEMPT]).to_pylist())
    return ((place_of(row, number), row[ATTEMPT]) for number, row in columns)
