"""What a process knows of the tables that it left behind, so that it need not look again.

Whoever uses it compares the versions that the tables have with those that they were left with: if
another writer came meanwhile, nothing that is known here holds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from changewire.tables.order import Order, Sequence

_MOST: Final = 1_000
"""Tables that are known at most; the one that was used longest ago is forgotten first."""


@dataclass(frozen=True)
class TableState:
    """A table and its tombstones, as this process left them.

    Attributes:
        versions: `Delta.version` of each, as SQL names them.
        columns: The table's columns but `COLUMN`, as text: it was checked that it has them.
        truncated: Order of its newest truncate.
        mark: The greatest sequence that rows and tombstones have: what is beyond it is newer than
            all that is there. None if it is not known.
        is_alone: Whether no other writer was seen. Where one came another one may come again, so
            that it does not pay to look for the mark, which is lost then.
    """

    versions: Mapping[str, Any]
    columns: str
    truncated: Order
    mark: Sequence | None
    is_alone: bool = True


_Key = tuple[str, str]
"""Format of a table, and its tombstones as SQL names them."""

STATES: Final[OrderedDict[_Key, TableState]] = OrderedDict()
"""What is known, by format and tombstones; the table that was used last comes last."""

_lock: Final = Lock()


def known_state(key: _Key) -> TableState | None:
    """Return what is known of a table."""
    with _lock:
        if key in STATES:
            STATES.move_to_end(key)
        return STATES.get(key)


def keep_state(key: _Key, state: TableState) -> None:
    """Remember a table as it was left."""
    with _lock:
        STATES[key] = state
        STATES.move_to_end(key)
        while len(STATES) > _MOST:
            STATES.popitem(last=False)


def forget_state(key: _Key) -> None:
    """Forget a table, of which something was seen or done that did not come to its end."""
    with _lock:
        STATES.pop(key, None)
