"""Versions as rows of a table: from when to when they were, and what late changes need of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

from changewire.tables.metadata import fields_of, metadata_of, state_from
from changewire.tables.mutations import RowMutation
from changewire.tables.order import ChangePosition, Order
from changewire.tables.state import Row, State
from changewire.tables.versions import Version, states_of

VersionNames = Literal["plain", "auto_cdc"]
"""How the columns are named that say from when to when a version was."""

VERSION_NAMES: Final[tuple[str, ...]] = get_args(VersionNames)


def check_names(names: str) -> None:
    """Check how columns are to be named.

    Raises:
        ValueError: There are no such names.
    """
    if names not in VERSION_NAMES:
        raise ValueError(f"no names {names!r}; there are: {', '.join(VERSION_NAMES)}")


class ChangeNote(NamedTuple):
    """What a table of versions says of a change beside its order.

    Attributes:
        op: Its operation.
        event_time: When it was made, in microseconds since the Unix epoch; None if the message
            does not say.
    """

    op: str
    event_time: int | None


Notes = Mapping[Order, ChangeNote]
"""Notes by the orders of their changes."""


def noted_states(
    batch: Iterable[tuple[RowMutation, ChangeNote]], held: Collection[State] = ()
) -> list[tuple[State, ChangeNote]]:
    """Return what each change leaves of a row by itself, as `states_of`, with its note."""
    pairs = sorted(batch, key=lambda pair: pair[0].position)
    states = states_of([mutation for mutation, _ in pairs], held)
    return [(state, note) for state, (_, note) in zip(states, pairs, strict=True)]


def version_metadata(version: Version, notes: Notes) -> dict[str, Any]:
    """Return the column ``_changewire`` of a version, as dictionaries."""
    first, *later = (_noted(metadata_of(state), state.order, notes) for state in version.states)
    ended = version.ended
    end = None if ended is None else _noted(fields_of(ended), ended, notes)
    return {**first, "ended": end, "later": later or None}


def _noted(fields: dict[str, Any], order: Order, notes: Notes) -> dict[str, Any]:
    return {**fields, **notes[order]._asdict()}


def states_from(metadata: Mapping[str, Any], values: Row) -> Iterator[tuple[State, ChangeNote]]:
    """Yield the states of a version, each with the note of its change.

    Args:
        metadata: The column ``_changewire`` of the version, as dictionaries.
        values: Its columns but the key's.

    Raises:
        ValueError: The column has another layout.
    """
    for fields in (metadata, *(metadata["later"] or ())):
        row = {name: fields[name] for name in _STATE}
        yield state_from(row, values), ChangeNote(fields["op"], fields["event_time"])


_STATE: Final = (
    *("sequence", "topic", "partition", "offset", "element"),
    *("columns", "floor", "version"),
)
"""Fields of `RowMetadata`."""


def note_of_end(metadata: Mapping[str, Any]) -> tuple[Order, ChangeNote] | None:
    """Return the change that ended a version, by its column ``_changewire``; None without any."""
    end = metadata["ended"]
    if end is None:
        return None
    return order_of(end), ChangeNote(end["op"], end["event_time"])


def order_of(fields: Mapping[str, Any]) -> Order:
    """Return the order of dictionaries that have the columns of `OrderFields`."""
    sequence = fields["sequence"]
    position = ChangePosition(*(fields[name] for name in ChangePosition._fields))
    return Order((sequence["major"], sequence["minor"]) if sequence else (), position)


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    end = metadata["ended"]
    return {
        "valid_from": metadata["event_time"],
        "valid_to": None if end is None else end["event_time"],
        "is_current": end is None,
        "op": metadata["op"],
    }


def _auto_cdc(metadata: Mapping[str, Any]) -> dict[str, Any]:
    end = metadata["ended"]
    # NULL is current: what ended without any sequence has one that is empty.
    last = None if end is None else end["sequence"] or {"major": None, "minor": None}
    return {"__START_AT": metadata["sequence"], "__END_AT": last}


SPAN_COLUMNS: Final[Mapping[VersionNames, Callable[[Mapping[str, Any]], dict[str, Any]]]] = (
    MappingProxyType({"plain": _plain, "auto_cdc": _auto_cdc})
)
"""What returns the columns of a version beside those of its row, by the column ``_changewire``."""
