"""Changes of a row that no table took: they are dead letters, and not in the change log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow.compute as pc

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.changelog.folders import Folder
from changewire.engines.changelog.keys import Wanted, parsed
from changewire.engines.layout import RECORD_PLACE
from changewire.framing import Position as RecordPosition
from changewire.tables.keys import key_text
from changewire.tables.order import PositionedChange, position_of
from changewire_messages.change import Change

_CODES: Final = ("key-mismatch", "name-collision", "schema-mismatch", "table-missing")
"""Why tables refuse changes; messages with any other code are no changes."""

_NEEDED: Final = frozenset({*RECORD_PLACE, "element", "code", "message", "format", "value"})
_OPTIONAL: Final = frozenset({"key", "replayed"})


class Letter(NamedTuple):
    """A change that a table refused.

    Attributes:
        placed: The change.
        key: Its key that was looked for, as `key_text`.
        why: What is wrong with it.
    """

    placed: PositionedChange
    key: str
    why: str


def rejected_changes(folder: str, wanted: Wanted) -> Iterator[Letter]:
    """Yield the changes of a key that tables refused, from the dead letters of a stream.

    They are decoded anew, without options: a message that only they give a key is left out.

    Raises:
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    table = Folder(folder)
    if not _NEEDED.issubset(table.names):
        return
    for batch in table.batches(_NEEDED | _OPTIONAL, pc.field("code").isin(_CODES)):
        for row in batch.to_pylist():
            change = None if row.get("replayed") else _change(row)
            if change is not None:
                place = RecordPosition(**{name: row[name] for name in RECORD_PLACE})
                placed = PositionedChange(change, position_of(place, row["element"]))
                yield from (Letter(placed, key, row["message"]) for key in _keys(change, wanted))


def _change(row: Mapping[str, Any]) -> Change | None:
    """Return the change that a dead letter was; None if it cannot be decoded so."""
    try:
        options = DecodeOptions(row["format"], strip_registry_prefix=True)
        elements = options.elements(row["value"], row.get("key"))
        found, _ = elements[row["element"]]
    except (ImportError, IndexError, ValueError):
        return None
    return found if isinstance(found, Change) else None


def _keys(change: Change, wanted: Wanted) -> list[str]:
    """Return the text of a change's key, or of its old one, where that is looked for."""
    keys = [key_text(key) for key in (change.key, change.before_key) if key is not None]
    return [key for key in keys if wanted.is_key(parsed(key))][:1]
