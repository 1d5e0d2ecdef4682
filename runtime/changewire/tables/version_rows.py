"""Versions as rows of a table: from when to when they were, and which changes made them."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

from changewire.tables.mutations import RowMutation
from changewire.tables.order import Order
from changewire.tables.state import State
from changewire.tables.versions import Version, states_of

VersionNames = Literal["plain", "auto_cdc"]
"""How the columns are named that say from when to when a version was."""

VERSION_NAMES: Final[tuple[str, ...]] = get_args(VersionNames)


def check_names(names: str) -> None:
    """Check how columns are to be named.

    Raises:
        ValueError: `names` is neither ``plain`` nor ``auto_cdc``.
    """
    if names not in VERSION_NAMES:
        raise ValueError(f"no names {names!r}; there are: {', '.join(VERSION_NAMES)}")


class ChangeNote(NamedTuple):
    """Properties of the change of a version, apart from its order.

    Attributes:
        op: Its operation.
        event_time: When it was made, in microseconds since the Unix epoch; None if the message
            does not say.
    """

    op: str
    event_time: int | None


def noted_states(batch: Iterable[tuple[RowMutation, ChangeNote]]) -> list[tuple[State, ChangeNote]]:
    """Return what each change leaves of a row by itself, as `states_of`, with its note."""
    pairs = sorted(batch, key=lambda pair: pair[0].position)
    states = states_of([mutation for mutation, _ in pairs])
    return [(state, note) for state, (_, note) in zip(states, pairs, strict=True)]


def version_metadata(version: Version, notes: Mapping[Order, ChangeNote]) -> dict[str, Any]:
    """Return the column ``_changewire`` of a version, by the notes of changes."""
    ended = version.ended
    end = None if ended is None else _noted(ended, notes)
    return {**_noted(version.began, notes), "ended": end}


def fields_of(order: Order) -> dict[str, Any]:
    """Return an order as the columns of `changewire_messages.tables.OrderFields`."""
    pair = dict(zip(("major", "minor"), order.sequence, strict=True)) if order.sequence else None
    return {"sequence": pair, **order.position._asdict()}


def _noted(order: Order, notes: Mapping[Order, ChangeNote]) -> dict[str, Any]:
    return {**fields_of(order), **notes[order]._asdict()}


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
"""What makes the columns that say from when to when a version was, by their names."""
