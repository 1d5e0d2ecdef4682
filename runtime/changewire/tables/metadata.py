"""What a table keeps of the state of a row, in its column ``_changewire``."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from changewire.tables.order import Order, Position, sequence_of
from changewire.tables.state import Row, State
from changewire_messages.change import Sequence

COLUMN: Final = "_changewire"
"""Name of the column in a table."""

VERSION: Final = 1
"""Version of the column's layout."""


class OrderFields(Struct, frozen=True):
    """An order, as a table has it.

    Attributes:
        sequence: Major and minor; None is before any other.
        topic: Kafka topic; for files their path.
        partition: Kafka partition; -1 for files.
        offset: Kafka offset; for files the number of the record.
        element: Index of the change in its message.
    """

    sequence: Sequence | None
    topic: str
    partition: int
    offset: int
    element: int


class RowMetadata(OrderFields, frozen=True):
    """The column ``_changewire``; its first fields are `State.order`.

    Attributes:
        columns: `State.columns`; None where there are none, as in tables of full images.
        floor: `State.floor`; None where it is the row's order.
        version: `VERSION`.
    """

    columns: dict[str, OrderFields] | None = None
    floor: OrderFields | None = None
    version: int = VERSION


def metadata_of(state: State) -> dict[str, Any]:
    """Return the column of a row, or of a tombstone, as dictionaries."""
    columns = {name: _fields(order) for name, order in state.columns.items()}
    found = RowMetadata(
        *_values(state.order),
        columns=columns or None,
        floor=None if state.floor == state.order else _fields(state.floor),
    )
    kept: dict[str, Any] = msgspec.to_builtins(found)
    return kept


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
        text = f"{COLUMN} has version {found.version}; this changewire reads {VERSION}"
        raise ValueError(text)
    order = _order(found)
    floor = order if found.floor is None else _order(found.floor)
    columns = {name: _order(fields) for name, fields in (found.columns or {}).items()}
    return State(order, floor, values, columns)


def _values(order: Order) -> tuple[Sequence | None, str, int, int, int]:
    sequence = order.sequence
    pair = Sequence(major=sequence[0], minor=sequence[1]) if sequence else None
    topic, partition, offset, element = order.position
    return pair, topic, partition, offset, element


def _fields(order: Order) -> OrderFields:
    return OrderFields(*_values(order))


def _order(fields: OrderFields) -> Order:
    position = Position(fields.topic, fields.partition, fields.offset, fields.element)
    return Order(sequence_of(fields.sequence), position)
