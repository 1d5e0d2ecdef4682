"""What the engines share that decide on hard keys by `changewire.tables`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire.engines.effects import mutation_of
from changewire.tables.merge import Stored
from changewire.tables.mutations import RowMutation
from changewire.tables.order import Order
from changewire.tables.state import State, tombstone


def store(stored: Stored, state: State) -> None:
    """Take what a table has of a key: its row, or a row that is flagged as deleted."""
    if state.values is None:
        stored.add_tombstone(state)
    else:
        stored.row = state


def mutation_in(row: Mapping[str, Any], values: Mapping[str, Any]) -> RowMutation:
    """Return a mutation that is in a row of its own, with the fields of its order.

    Args:
        row: Columns ``kind``, ``names`` and those of the order.
        values: Columns of the row after the change; None for what is null.
    """
    major = row["major"]
    sequence = None if major is None else {"major": major, "minor": row["minor"]}
    return mutation_of({**row, "sequence": sequence}, values)


def state_after(becomes: State | None, stored: Stored, floor: Order) -> State:
    """Return what a row becomes; without a state it is deleted at the order that it had."""
    held = stored.row.order if stored.row else floor
    return tombstone(max(held, floor)) if becomes is None else becomes
