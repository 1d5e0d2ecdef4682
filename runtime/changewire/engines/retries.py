"""How a merge is written although other writers may come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from time import sleep
from typing import Final, NamedTuple, Protocol, TypeVar

from changewire.engines.errors import ConflictError

_TRIES: Final = 6
_FIRST_WAIT: Final = 0.5
"""Seconds; each further wait is twice as long."""

_Result = TypeVar("_Result")


class WriteConflictError(Exception):
    """Another writer changed a table after it was read here; what was to be done can be retried."""


class Counted(Protocol):
    """What was decided on a table."""

    @property
    def counts(self) -> Counter[str]:
        """What became of the changes, as `changewire.tables.Result.counts` has it."""
        ...


_Decisions = TypeVar("_Decisions", bound=Counted)


class Written(NamedTuple):
    """What an attempt to write decisions did.

    Attributes:
        is_whole: Whether all of it was written.
        is_final: Whether it was, and both tables are as this left them. A table and its tombstones
            are written one after the other: another writer that read one of them before this wrote
            it, and wrote the other one after this read it, has not seen this, and this has not seen
            the other writer. So one of the two has to look again.
    """

    is_whole: bool
    is_final: bool


def write_until_final(
    table: str,
    first: _Decisions | None,
    *,
    decide: Callable[[], _Decisions],
    write: Callable[[_Decisions], Written],
) -> Counter[str]:
    """Write what was decided on a table; if another writer came first, decide again.

    Args:
        table: Name of the table.
        first: What was decided; None to decide first.
        decide: Decides on the table as it is now; it may raise `WriteConflictError`.
        write: Writes decisions; it may raise `WriteConflictError`.

    Returns:
        What became of the changes, as the first decisions have it that were written as a whole.

    Raises:
        ConflictError: Other writers came first again and again.
    """
    decided, counts = first, None
    for _ in _tries():
        try:
            decided = decide() if decided is None else decided
            written = write(decided)
        except WriteConflictError:
            decided = None
            continue
        if counts is None and written.is_whole:
            counts = decided.counts
        if written.is_final:
            return decided.counts if counts is None else counts
        decided = None
    raise _conflict(table)


def retried(table: str, action: Callable[[], _Result]) -> _Result:
    """Return what an action on a table returns; it is retried if it raises `WriteConflictError`.

    Raises:
        ConflictError: Other writers came first again and again.
    """
    for _ in _tries():
        try:
            return action()
        except WriteConflictError:  # noqa: PERF203 - there are few tries
            continue
    raise _conflict(table)


def _tries() -> Iterator[int]:
    """Yield the number of each try; before all but the first it waits, for 1 to 16 seconds."""
    for tried in range(_TRIES):
        if tried:
            sleep(_FIRST_WAIT * 2**tried)
        yield tried


def _conflict(table: str) -> ConflictError:
    """Return the error of a table that no try could write."""
    return ConflictError(
        f"{table}: other writers changed it {_TRIES} times while a batch was merged into it; "
        "let one query write to one table"
    )
