"""What is written although other writers may come first."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep
from typing import Final, TypeVar

from changewire.engines.errors import ConflictError

_TRIES: Final = 6
_FIRST_WAIT: Final = 0.5
"""Seconds, which double before each retry: 1 to 16."""

_Result = TypeVar("_Result")


class WriteConflictError(Exception):
    """Another writer changed a table after it was read here; what was to be done can be retried."""


def retried(table: str, action: Callable[[], _Result]) -> _Result:
    """Return what an action on a table returns; it is retried if it raises `WriteConflictError`."""
    conflict = None
    for tried in range(_TRIES):
        if tried:
            sleep(_FIRST_WAIT * 2**tried)
        try:
            return action()
        except WriteConflictError as error:
            conflict = error
    raise ConflictError(
        f"{table}: other writers changed it {_TRIES} times while a batch was merged into it; "
        "let one query write to one table"
    ) from conflict
