"""Which changes of a batch are refused, since they break a constraint of their table.

A row is looked at after each of its changes, as if they came one by one: what breaks a constraint
is refused, and what comes after it is applied to the row without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec import UNSET

from changewire.engines.changelog.shapes import Shape
from changewire.engines.merge.mutations import CONTENT
from changewire.tables.merge import each_merged
from changewire.tables.mutations import DELETE, FULL, RowMutation
from changewire.tables.order import OLDEST, Order
from changewire.tables.row_state import COLUMN, row_state, state_from
from changewire.tables.state import State

Change: TypeAlias = dict[str, Any]
"""A mutation with its content, and ``index``, its number among those of a table."""


@dataclass(frozen=True)
class Sieve:
    """Finds which changes break a constraint of a table.

    Attributes:
        shape: How the table has its rows.
        held: Rows of the table, by the texts of their keys.
        floor: Order of the newest truncate.
        deletes: Newest deletes that the log has, by the texts of their keys.
        keeps_deleted: Whether deleted rows stay.
        violated: Returns which constraint each of some rows breaks.
    """

    shape: Shape
    held: Mapping[str, Mapping[str, Any]]
    floor: Order
    deletes: Mapping[str, Order]
    keeps_deleted: bool
    violated: Callable[[Sequence[Mapping[str, Any]]], Sequence[str | None]]

    def refused(self, batch: Mapping[str, Sequence[Change]]) -> dict[int, str]:
        """Return which constraints changes break, by their ``index``; a batch has them by key."""
        found: dict[int, str] = {}
        left = {key: [*changes] for key, changes in batch.items()}
        while left:
            steps = [step for key, changes in left.items() for step in self._steps(key, changes)]
            names = self.violated([row for *_, row in steps])
            broken = _broken(steps, names)
            found |= broken
            keys = {key for key, change, *_ in steps if change["index"] in broken}
            kept = {key: [one for one in left[key] if one["index"] not in broken] for key in keys}
            left = {key: changes for key, changes in kept.items() if changes}
        return found

    def _steps(
        self, key: str, changes: list[Change]
    ) -> list[tuple[str, Change, State, dict[str, Any]]]:
        """Return each change of a row that changes it, with the row after it."""
        shape, row = self.shape, self.held.get(key)
        fields = None if row is None else row[COLUMN]
        stored = None if fields is None else state_from(fields, shape.values(row or {}))
        pairs = [(shape.mutation(one, one[CONTENT]), one) for one in changes]
        pairs.sort(key=_position)
        _, *states = each_merged(
            stored,
            (mutation for mutation, _ in pairs),
            self.floor,
            self.deletes.get(key, OLDEST),
        )
        named = {name: (row or changes[0][CONTENT])[name] for name in shape.keys}
        return [
            (key, one, state, {**_left(row, state), **self._row(named, state)})
            for (_, one), state in zip(pairs, states, strict=True)
            if state is not UNSET and (self.keeps_deleted or state.values is not None)
        ]

    def _row(self, named: Mapping[str, Any], state: State) -> dict[str, Any]:
        nothing = dict.fromkeys(self.shape.schema.names)
        row = self.shape.row(named, state.values)
        return {**nothing, **row, COLUMN: row_state(state)}


def _position(pair: tuple[RowMutation, Change]) -> Any:
    return pair[0].position


def _broken(
    steps: Sequence[tuple[str, Change, State, Any]], names: Sequence[str | None]
) -> dict[int, str]:
    """Return the first change of each key that breaks a constraint, and others that do it alone."""
    found: dict[int, str] = {}
    keys = set[str]()
    for (key, change, state, _), name in zip(steps, names, strict=True):
        if name is None:
            continue
        if key not in keys or _is_alone(change, state):
            found[change["index"]] = name
        keys.add(key)
    return found


def _is_alone(change: Change, state: State) -> bool:
    """Whether a row is what one change says, whatever came before it."""
    is_whole = change["kind"] in {FULL, DELETE} and not state.columns
    position = state.order.position._asdict()
    return is_whole and position == {name: change[name] for name in position}


def _left(row: Mapping[str, Any] | None, state: State) -> Mapping[str, Any]:
    """Return a row, which has columns that changes do not write; nothing if it is deleted."""
    return {} if row is None or state.values is None else row
