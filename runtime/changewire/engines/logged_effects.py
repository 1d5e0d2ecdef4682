"""What a change does to rows, by its row in a log: as decoded rows have it."""

from __future__ import annotations

from typing import Any

from changewire.changes.change_row import ChangeRow
from changewire.engines.effects import parsed, rows_of
from changewire.tables.mutations import mutations
from changewire_messages.change import Sequence, Source


def effects_of_logged(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a change does to rows, as the column `EFFECTS`."""
    attributes, sequence = parsed(row["attributes"]) or {}, row["sequence"]
    # Of a whole row nothing is read here but that it is there.
    read = _is_there if attributes.get("image", "full") == "full" else parsed
    change = ChangeRow(
        op=row["op"],
        source=Source(**row["source"]),
        key=parsed(row["key"]),
        before_key=parsed(row["before_key"]),
        before=read(row["before"]),
        after=read(row["after"]),
        sequence=None if sequence is None else Sequence(**sequence),
        attributes=attributes,
    )
    return rows_of(mutations(change))


def _is_there(text: str | None) -> dict[str, Any] | None:
    return None if text is None else {}
