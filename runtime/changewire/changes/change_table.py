"""Rows of changes by the change table of a family, whose functions the generator wrote."""

from functools import lru_cache
from typing import Any, Final

from msgspec import UNSET

from changewire.changes.change_row import ChangeRow
from changewire_messages.change import Sequence, Source

BEFORE: Final = "update-before"
"""Operation of an update whose message has only the row before it."""


def row_by(table: Any, message: Any, **parts: Any) -> ChangeRow:
    """Return a change with the source, time and order that a message has, and other parts.

    `table` is the module ``changes`` of the package of a family.
    """
    order = table.sequence(message)
    return ChangeRow(
        source=source_of(table.SYSTEM, *table.source(message)),
        event_time=table.event_time(message),
        sequence=None if order is None else Sequence(major=order[0], minor=order[1]),
        **parts,
    )


@lru_cache(maxsize=256)
def source_of(system: str, database: Any = None, schema: Any = None, table: Any = None) -> Source:
    """Return the place of a row; most messages of a topic come from few of them."""
    names = {"database": database, "schema": schema, "table": table}
    return Source(system=system, **{k: None if v is UNSET else v for k, v in names.items()})
