"""How often a merge is tried where other writers come first."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep
from typing import Final

from changewire.engines.errors import ConflictError

_TRIES: Final = 6
_FIRST_WAIT: Final = 0.5
"""Seconds; each further wait is twice as long."""


def tries() -> Iterator[int]:
    """Yield the number of each try; before all but the first it waits, for 1 to 16 seconds."""
    for tried in range(_TRIES):
        if tried:
            sleep(_FIRST_WAIT * 2**tried)
        yield tried


def conflict(table: str) -> ConflictError:
    """Return the error of a table that no try could write."""
    return ConflictError(
        f"{table}: other writers changed it {_TRIES} times while a batch was merged into it; "
        "let one query write to one table"
    )
