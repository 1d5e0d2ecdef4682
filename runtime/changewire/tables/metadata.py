"""What a table keeps of the state of a row, in its column ``_changewire``."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from changewire.tables.order import ChangePosition, Order
from changewire.tables.state import Row, State
from changewire_messages.tables import OrderFields, RowMetadata

COLUMN: Final = "_changewire"
"""Name of the column in a table."""

VERSION: Final = 1
"""Version of the column's layout."""


def metadata_of(state: State) -> dict[str, Any]:
    """Return the column of a row, or of a tombstone, as dictionaries."""
    columns = {name: fields_of(order) for name, order in state.columns.items()}
    return {
        **fields_of(state.order),
        "columns": columns or None,
        "floor": None if state.floor == state.order else fields_of(state.floor),
        "version": VERSION,
    }


def state_from(column: Mapping[str, Any], values: Row | None) -> State:
    """Return the state of a row or tombstone from its column.

    Args:
        column: The column, as dictionaries.
        values: The other columns of the row but the key's; None for a tombstone.

    Raises:
        ValueError: The column has another layout.
    """
    found = msgspec.convert(column, RowMetadata)
    if found.version != VERSION:
        raise ValueError(f"{COLUMN} has version {found.version}; this changewire reads {VERSION}")
    order = _order(found)
    floor = order if found.floor is None else _order(found.floor)
    columns = {name: _order(fields) for name, fields in (found.columns or {}).items()}
    return State(order, floor, values, columns)


def fields_of(order: Order) -> dict[str, Any]:
    """Return an order as the columns of `OrderFields`."""
    sequence = order.sequence
    pair = {"major": sequence[0], "minor": sequence[1]} if sequence else None
    return {"sequence": pair, **order.position._asdict()}


def _order(fields: OrderFields | RowMetadata) -> Order:
    position = ChangePosition(fields.topic, fields.partition, fields.offset, fields.element)
    sequence = fields.sequence
    return Order((sequence.major, sequence.minor) if sequence else (), position)
