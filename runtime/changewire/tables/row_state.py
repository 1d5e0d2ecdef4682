"""What a table keeps of the state of a row, in its column ``_changewire``."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from changewire.tables.order import NO_SEQUENCE, ChangePosition, Order, Sequence
from changewire.tables.state import Row, State

COLUMN: Final = "_changewire"
"""Name of the column in a table."""

ORDER: Final = ("major", "minor", "topic", "partition", "offset", "element")
"""Fields that order changes, from left to right."""


class Rescued(Struct, frozen=True):
    """A value that does not fit its column, or that has none.

    Attributes:
        text: The value as JSON text.
    """

    text: str


_OrderFields = tuple[Sequence, ChangePosition]


class _Patched(Struct, array_like=True):
    """The text of ``columns``.

    Attributes:
        floor: Up to here all columns are settled.
        columns: Order of each column that was set or removed since.
    """

    floor: _OrderFields
    columns: dict[str, _OrderFields]


_decode: Final = msgspec.json.Decoder(_Patched).decode
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def rescued_text(values: Mapping[str, Any]) -> str | None:
    """Return the text of ``rescued``: the members of a row that are `Rescued`; None without any."""
    found = {n: msgspec.Raw(v.text.encode()) for n, v in values.items() if type(v) is Rescued}
    return msgspec.json.encode(found).decode() if found else None


def rescued_values(text: str | None) -> dict[str, Rescued]:
    """Return the values that a text of ``rescued`` has, by their names."""
    if text is None:
        return {}
    return {name: Rescued(bytes(raw).decode()) for name, raw in _members(text).items()}


def row_state(state: State) -> dict[str, Any]:
    """Return the column of a row, by its fields."""
    text = None
    if state.columns or state.floor != state.order:
        found = _Patched(state.floor, {**state.columns})
        text = msgspec.json.encode(found, order="deterministic").decode()
    return {
        **order_fields(state.order),
        "deleted": state.values is None,
        "columns": text,
        "rescued": rescued_text(state.values or {}),
    }


def order_fields(order: Order) -> dict[str, Any]:
    """Return an order by the fields `ORDER`."""
    major, minor = order.sequence or (None, None)
    return {"major": major, "minor": minor, **order.position._asdict()}


def order_from(fields: Mapping[str, Any]) -> Order:
    """Return an order of the fields `ORDER`."""
    major, minor, *position = (fields[name] for name in ORDER)
    return Order(NO_SEQUENCE if major is None else (major, minor), ChangePosition(*position))


def state_from(fields: Mapping[str, Any], values: Row | None) -> State:
    """Return the state of a row from its column.

    Args:
        fields: The column.
        values: The other columns of the row but the key's; they are those of no row if the column
            says that it is deleted.
    """
    order = order_from(fields)
    kept = None if fields["deleted"] else values
    if kept is not None and fields["rescued"] is not None:
        kept = {**kept, **rescued_values(fields["rescued"])}
    if fields["columns"] is None:
        return State(order, order, kept)
    found = _decode(fields["columns"])
    columns = {name: Order(*one) for name, one in found.columns.items()}
    return State(order, Order(*found.floor), kept, columns)
