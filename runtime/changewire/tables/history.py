"""The history of one row: what each change did to it, by the rules that tables follow."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Final, Literal

from msgspec import UNSET, Struct

from changewire.tables.keys import key_text
from changewire.tables.merge import after_truncate, merged
from changewire.tables.mutations import RowMutation, is_unpaired_before, mutations
from changewire.tables.order import (
    NO_SEQUENCE,
    OLDEST,
    ChangePosition,
    Order,
    PositionedChange,
    is_full_load,
    sequence_of,
)
from changewire.tables.routing import TRUNCATE
from changewire.tables.state import DecidedState, Row, State, decided

BeforeImage = Literal["moved", "waits"]
"""What a before image does that came alone: its row has another key now; or no row after it is
known. Otherwise its row has the same key, and the row after it says all."""

Reason = Literal[
    "before-image",
    "before-image-waits",
    "duplicate",
    "full-load",
    "older-than-row",
    "older-than-tombstone",
    "older-than-truncate",
    "refused",
    "truncate-without-sequence",
]
"""Why a change did nothing to its row."""


class StepRefusal(Struct, frozen=True):
    """Why a change did nothing.

    Attributes:
        reason: The rule.
        held: Order of what was newer, or the same; None if nothing was.
        detail: Why the change was refused.
    """

    reason: Reason
    held: Order | None = None
    detail: str = ""


class Step(Struct, frozen=True, kw_only=True):
    """What one change, or a truncate of the table, did to a row.

    Attributes:
        placed: The change, and where it was read.
        kind: ``full``, ``patch`` or ``delete``, as of a `RowMutation`; ``truncate``; or ``none``.
        order: What it was compared by.
        refused: Why it did nothing; None if it was applied.
        is_inherited: Whether it has no sequence of its own.
        ignored: Columns that it would set and that something newer has set already.
        before: The row before it, without its key; None if there was none.
        after: The row after it.
    """

    placed: PositionedChange
    kind: str
    order: Order
    refused: StepRefusal | None = None
    is_inherited: bool = False
    ignored: tuple[str, ...] = ()
    before: Row | None
    after: Row | None

    def columns(self) -> dict[str, tuple[Any, Any]]:
        """Return what it changed: each column before and after; UNSET means a missing column."""
        before, after = self.before or {}, self.after or {}
        pairs = {
            name: (before.get(name, UNSET), after.get(name, UNSET)) for name in {**before, **after}
        }
        return {name: (old, new) for name, (old, new) in pairs.items() if old != new}


class History(Struct, frozen=True):
    """All that is known of one row.

    Attributes:
        steps: What each change did, in the order in which they were read.
        state: The row after them: its columns, or a tombstone; None without any.
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


_NONE: Final[Mapping[ChangePosition, Any]] = {}


def history_of(
    key: str,
    changes: Iterable[PositionedChange],
    *,
    refused: Mapping[ChangePosition, str] = _NONE,
    befores: Mapping[ChangePosition, BeforeImage] = _NONE,
    apply_truncates: bool = False,
) -> History:
    """Replay the changes of one row, and truncates of its table, in the order of the history.

    Args:
        key: The key as `key_text`.
        changes: Its changes, in the order in which they were read.
        refused: Why some of them were refused, by their positions.
        befores: What before images do that came alone, by their positions.
        apply_truncates: Whether truncates remove the row.
    """
    replay = _RowReplay(key)
    for placed in changes:
        if placed.position in refused:
            replay.skip(placed, StepRefusal("refused", detail=refused[placed.position]))
        elif is_unpaired_before(placed.change) and befores.get(placed.position) != "moved":
            is_waiting = befores.get(placed.position) == "waits"
            replay.skip(placed, StepRefusal("before-image-waits" if is_waiting else "before-image"))
        elif placed.change.op != TRUNCATE:
            replay.change(placed)
        elif apply_truncates:
            replay.truncate(placed)
    return History(replay.steps, replay.state, replay.in_one_batch())


class _RowReplay:
    """A row to which changes are applied one by one.

    Attributes:
        steps: What was done.
        state: The row, or that it is deleted; None if nothing is known.
        floor: Order of the newest truncate.
    """

    def __init__(self, key: str) -> None:
        self.steps: list[Step] = []
        self.state: State | None = None
        self.floor = OLDEST
        self._key = key
        self._changes: list[PositionedChange] = []

    def change(self, placed: PositionedChange) -> None:
        """Apply the effect of a change on the row: its own, and that of a key which moved away."""
        self._changes.append(placed)
        for mutation in self._mutations(placed):
            self._apply(placed, mutation)

    def skip(self, placed: PositionedChange, why: StepRefusal) -> None:
        """Add the step of a change that does nothing."""
        self._add(placed, "none", _order(placed), self.state, why)

    def truncate(self, placed: PositionedChange) -> None:
        """Remove the row if it is older, and let nothing older come back."""
        order, row = _order(placed), self.state
        if not order.sequence:
            self.skip(placed, StepRefusal("truncate-without-sequence"))
            return
        self.floor = max(self.floor, order)
        if row is None or row.values is None:
            return
        self.state = after_truncate(row, self.floor)
        why = StepRefusal("older-than-row", row.order) if self.state == row else None
        self._add(placed, TRUNCATE, order, row, why)

    def in_one_batch(self) -> State | None:
        """Return what the row would be if all changes had come in one batch."""
        found = chain.from_iterable(map(self._mutations, self._changes))
        batch = sorted(found, key=lambda mutation: mutation.position)
        becomes = merged(None, batch, self.floor)
        return None if becomes is UNSET else becomes

    def _mutations(self, placed: PositionedChange) -> list[RowMutation]:
        """Return the effect of a change on the row; a before image alone deletes its key only."""
        found = mutations(placed.change, placed.position)
        return [one for one in found if key_text(one.key) == self._key]

    def _apply(self, placed: PositionedChange, mutation: RowMutation) -> None:
        held = self.state
        inherited = NO_SEQUENCE if held is None else held.order.sequence
        new = mutation.state(mutation.sequence or inherited)
        outcome = decided(held, new, self.floor)
        why = None if outcome.decision == "applied" else self._why(outcome, new, held)
        self.state = outcome.state or held
        ignored = () if why else _newer(mutation, new.order, self.state)
        is_inherited = not mutation.sequence
        self._add(
            placed, mutation.kind, new.order, held, why, is_inherited=is_inherited, ignored=ignored
        )

    def _why(self, outcome: DecidedState, new: State, held: State | None) -> StepRefusal:
        """Return why a state was not applied."""
        if new.order < self.floor or held is None:
            return StepRefusal("older-than-truncate", self.floor)
        if outcome.decision == "duplicate":
            return StepRefusal("duplicate", held.order)
        if held.values is None:
            return StepRefusal("older-than-tombstone", held.order)
        is_load = is_full_load(new.order.sequence) and not is_full_load(held.order.sequence)
        reason: Reason = "full-load" if is_load and new.values is not None else "older-than-row"
        return StepRefusal(reason, held.order)

    def _add(
        self,
        placed: PositionedChange,
        kind: str,
        order: Order,
        before: State | None,
        refused: StepRefusal | None,
        **more: Any,
    ) -> None:
        step = Step(
            placed=placed,
            kind=kind,
            order=order,
            refused=refused,
            before=_values(before),
            after=_values(self.state),
            **more,
        )
        self.steps.append(step)


def _newer(mutation: RowMutation, order: Order, row: State | None) -> tuple[str, ...]:
    """Return the columns of a mutation that the row has from something newer."""
    if row is None or row.values is None:
        return ()
    return tuple(name for name in mutation.values if row.columns.get(name, row.floor) > order)


def _order(placed: PositionedChange) -> Order:
    return Order(sequence_of(placed.change.sequence), placed.position)
