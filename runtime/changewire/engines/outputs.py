"""Decoded rows to the columns of an output, and the order in which dead letters are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.layout import (
    CHANGES_TABLE,
    DEAD_LETTER,
    DEAD_LETTERS_TABLE,
    MESSAGE,
    MESSAGES_TABLE,
)
from changewire.version import VERSION


def table_of(kind: str) -> tuple[str, ...]:
    """Return the columns of the output that takes a kind of row."""
    return _TABLES.get(kind, CHANGES_TABLE)


_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    DEAD_LETTER: DEAD_LETTERS_TABLE,
    MESSAGE: MESSAGES_TABLE,
}


def output_of(rows: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    """Return the rows of one kind, with the columns of its output."""
    chosen = rows.filter(pc.equal(rows.column("kind"), kind))
    if kind == DEAD_LETTER:
        version = pa.array([VERSION] * len(chosen), pa.string())
        others = [name for name in chosen.schema.names if name != "key"]
        chosen = chosen.select(others).append_column("version", version)
        chosen = chosen.rename_columns({"record_key": "key"})
    return chosen.select(list(table_of(kind)))


PLACE_ORDER: Final = ("path", "number", "topic", "partition", "offset", "element")
"""Columns that order dead letters in a report, NULL first."""


def place_order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the key that sorts rows by `PLACE_ORDER`."""
    return tuple((row[name] is not None, row[name]) for name in PLACE_ORDER)
