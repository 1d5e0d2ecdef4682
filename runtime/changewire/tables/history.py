"""The history of one row, told change by change."""

from typing import Any, Literal

from msgspec import UNSET, Struct

from changewire.tables.order import Order, Placed
from changewire.tables.state import Row, State

Reason = Literal[
    "dead-letter",
    "duplicate",
    "full-load",
    "lone-before-unused",
    "older-than-row",
    "older-than-tombstone",
    "older-than-truncate",
    "truncate-without-sequence",
]
"""Why a change did nothing to its row."""


class Refused(Struct, frozen=True):
    """Why a change did nothing.

    Attributes:
        reason: The rule.
        held: Order of what was newer, or the same; None where nothing was.
        detail: What is wrong with a dead letter.
    """

    reason: Reason
    held: Order | None = None
    detail: str = ""


class Step(Struct, frozen=True, kw_only=True):
    """What one change, or a truncate of the table, did to a row.

    Attributes:
        placed: The change, and where it was read.
        kind: ``full``, ``patch`` or ``delete``, as of an `Effect`; ``truncate``; or ``none``.
        order: What it was compared by.
        refused: Why it did nothing; None where it was applied.
        is_inherited: Whether it has no sequence of its own.
        ignored: Columns that it would set and that something newer has set already.
        before: The row before it, without its key; None where there was none.
        after: The row after it.
    """

    placed: Placed
    kind: str
    order: Order
    refused: Refused | None = None
    is_inherited: bool = False
    ignored: tuple[str, ...] = ()
    before: Row | None
    after: Row | None

    def columns(self) -> dict[str, tuple[Any, Any]]:
        """Return what it changed: each column before and after; UNSET is no such column."""
        before, after = self.before or {}, self.after or {}
        pairs = {
            name: (before.get(name, UNSET), after.get(name, UNSET)) for name in {**before, **after}
        }
        return {name: (old, new) for name, (old, new) in pairs.items() if old != new}


class History(Struct, frozen=True):
    """All that is known of one row.

    Attributes:
        steps: What each change did, in the order in which they were read.
        state: What the row is after them: its columns, or a tombstone; None where there is nothing.
        in_one_batch: The same, had all of them come in one batch. It may be another row where a
            change has no sequence: it takes that of changes before it in its batch, or of the row.
    """

    steps: list[Step]
    state: State | None
    in_one_batch: State | None

    @property
    def depends_on_batches(self) -> bool:
        """Whether the row depends on how its changes were cut into batches."""
        return _values(self.state) != _values(self.in_one_batch)


def _values(state: State | None) -> Row | None:
    """Return what readers of the table see of a row."""
    return None if state is None else state.values
