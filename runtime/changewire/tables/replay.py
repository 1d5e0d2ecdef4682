"""The changes of one row, replayed by the rules that tables follow, to be told one by one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final

from changewire.changes.pairs import pair_placed
from changewire.tables.apply import TRUNCATE
from changewire.tables.effects import Effect, effects
from changewire.tables.history import History, Reason, Refused, Step
from changewire.tables.keys import key_text
from changewire.tables.order import (
    NO_SEQUENCE,
    OLDEST,
    Order,
    Placed,
    Position,
    is_full_load,
    sequence_of,
)
from changewire.tables.reduce import reduced
from changewire.tables.state import Outcome, State, decided, joined, tombstone

_NONE: Final[Mapping[Position, str]] = {}


def history_of(
    key: str,
    changes: Iterable[Placed],
    *,
    refused: Mapping[Position, str] = _NONE,
    apply_as_truncates: bool = False,
) -> History:
    """Replay the changes of one row.

    Args:
        key: The row's key, as `key_text`.
        changes: Changes of the row, and truncates of its table, in the order to be told.
        refused: Why no table took some of these, by their positions.
        apply_as_truncates: Whether truncates remove rows.
    """
    replay = _Replay(key)
    for placed in changes:
        if placed.position in refused:
            replay.refuse(placed, refused[placed.position])
        elif placed.change.op != TRUNCATE:
            replay.change(placed)
        elif apply_as_truncates:
            replay.truncate(placed)
    return History(replay.steps, replay.row or replay.grave, replay.in_one_batch())


class _Replay:
    """The row as it is by now, and what was done to it.

    Attributes:
        steps: What was done.
        row: The row.
        grave: Its tombstone.
        floor: Order of the newest truncate.
    """

    def __init__(self, key: str) -> None:
        self.steps: list[Step] = []
        self.row: State | None = None
        self.grave: State | None = None
        self.floor = OLDEST
        self._key = key
        self._changes: list[Placed] = []

    def change(self, placed: Placed) -> None:
        """Apply what a change does to the row: its own, and that of a key which moved away."""
        self._changes.append(placed)
        found = self._effects(placed)
        for effect in found:
            self._apply(placed, effect)
        if not found:
            self._nothing(placed, Refused("lone-before-unused"))

    def refuse(self, placed: Placed, why: str) -> None:
        """Tell of a change that no table took."""
        self._nothing(placed, Refused("dead-letter", detail=why))

    def truncate(self, placed: Placed) -> None:
        """Remove the row if it is older, and let nothing older come back."""
        order, row = _order(placed), self.row
        if not order.sequence:
            self._nothing(placed, Refused("truncate-without-sequence"))
            return
        self.floor = max(self.floor, order)
        if row is None:
            return
        left = joined(row, tombstone(self.floor))
        self.row = None if left.values is None else left
        refused = Refused("older-than-row", row.order) if self.row == row else None
        self._tell(placed, TRUNCATE, order, row, refused)

    def in_one_batch(self) -> State | None:
        """Return what the row would be if all changes had come in one batch."""
        placed = ((one.position, one.change) for one in self._changes)
        pairs = pair_placed(placed, size=len(self._changes) or 1)
        found = (self._effects(Placed(change, position)) for position, change in pairs)
        for new in reduced(chain.from_iterable(found), lambda _: None, Counter()).values():
            return decided(None, None, new.state, self.floor).state
        return None

    def _effects(self, placed: Placed) -> list[Effect]:
        """Return what a change does to the row."""
        return [one for one in effects(placed) if key_text(one.key) == self._key]

    def _apply(self, placed: Placed, effect: Effect) -> None:
        row, held = self.row, self.row or self.grave
        inherited = NO_SEQUENCE if held is None else held.order.sequence
        new = effect.state(effect.sequence or inherited)
        outcome = decided(row, self.grave, new, self.floor)
        refused = None if outcome.decision == "applied" else self._why(outcome, new, held)
        self._set(outcome.state or held)
        self._tell(
            placed,
            effect.kind,
            new.order,
            row,
            refused,
            is_inherited=not effect.sequence,
            ignored=() if refused else _newer(effect, new.order, self.row),
        )

    def _set(self, state: State | None) -> None:
        is_row = state is not None and state.values is not None
        self.row, self.grave = (state, None) if is_row else (None, state)

    def _why(self, outcome: Outcome, new: State, held: State | None) -> Refused:
        """Return why a state was not applied."""
        if new.order < self.floor or held is None:
            return Refused("older-than-truncate", self.floor)
        if outcome.decision == "duplicate":
            return Refused("duplicate", held.order)
        if held.values is None:
            return Refused("older-than-tombstone", held.order)
        is_load = is_full_load(new.order.sequence) and not is_full_load(held.order.sequence)
        reason: Reason = "full-load" if is_load and new.values is not None else "older-than-row"
        return Refused(reason, held.order)

    def _nothing(self, placed: Placed, refused: Refused) -> None:
        self._tell(placed, "none", _order(placed), self.row, refused)

    def _tell(
        self,
        placed: Placed,
        kind: str,
        order: Order,
        row: State | None,
        refused: Refused | None,
        *,
        is_inherited: bool = False,
        ignored: tuple[str, ...] = (),
    ) -> None:
        self.steps.append(
            Step(
                placed=placed,
                kind=kind,
                order=order,
                refused=refused,
                is_inherited=is_inherited,
                ignored=ignored,
                before=None if row is None else row.values,
                after=None if self.row is None else self.row.values,
            )
        )


def _newer(effect: Effect, order: Order, row: State | None) -> tuple[str, ...]:
    """Return the columns of an effect that the row has from something newer."""
    if row is None:
        return ()
    return tuple(name for name in effect.values if row.columns.get(name, row.floor) > order)


def _order(placed: Placed) -> Order:
    return Order(sequence_of(placed.change.sequence), placed.position)
