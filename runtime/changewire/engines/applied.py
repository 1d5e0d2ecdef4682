"""What all engines share that apply the changes of a log to tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

Deletes = Literal["remove", "flag"]
DELETES: Final[tuple[str, ...]] = get_args(Deletes)
"""What becomes of a deleted row: it is removed, or it stays with its key and a flag."""

ANY: Final = "*"
"""In place of the name of a table, in a mapping of types: all other tables."""

MAX_NEW_TABLES: Final = 100
"""How many tables a batch may bring."""

KEYS: Final = "changewire.keys"
"""Property: the columns of the table's key."""

OWNER: Final = "changewire.query"
"""Property: id of the query that the table belongs to, which its checkpoint has."""


def types_by_table(rows: Any) -> Mapping[str, Any]:
    """Return types by table; a mapping that is a schema is the type of all tables."""
    is_schema = not isinstance(rows, Mapping) or "properties" in rows or "type" in rows
    return {ANY: rows} if is_schema else rows
