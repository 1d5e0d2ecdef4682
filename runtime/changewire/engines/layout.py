"""The columns that the engines read and write; one table for both engines.

A decoded row is one element of a message: a change, a control event or a dead letter; or, if
messages are kept unchanged, a message or a dead letter. The columns of a change, of a message and
of a rejection are those of their schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from changewire.tables.mutations import DELETE, WRITES
from changewire_messages.change import Change

CHANGE: Final = "change"
CONTROL: Final = "control"
MESSAGE: Final = "message"
DEAD_LETTER: Final = "dead_letter"

CHANGE_OPS: Final = frozenset({*WRITES, DELETE})
"""Operations that change a row; every other is a control event."""

HEADERS: Final = pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()}))

RECORD_COLUMNS: Final[dict[str, pa.DataType]] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "headers": HEADERS,
    "path": pa.string(),
    "number": pa.int64(),
}
"""Place of a record: Kafka's own columns, or file and number."""

RECORD_PLACE: Final = ("topic", "partition", "offset", "path", "number")
"""Those of them that tell one record from all others."""

POSITION: Final[Mapping[str, tuple[tuple[str, ...], str | int]]] = {
    "topic": (("topic", "path"), ""),
    "partition": (("partition",), -1),
    "offset": (("offset", "number"), -1),
}
"""Position of a record, as `changewire.tables` orders changes: for each part of it the columns of
which the first that is not NULL is taken, and the value for NULL in all of them."""

INPUT_COLUMNS: Final[dict[str, pa.DataType]] = {
    "value": pa.binary(),
    "key": pa.binary(),
    **RECORD_COLUMNS,
}
"""What is decoded; a column that the input lacks is NULL."""

CHANGE_COLUMNS: Final = tuple(name for name in Change.__struct_fields__ if name != "extra")
"""The properties of the change schema."""

EFFECT: Final = "effect"
"""Column: the effect of a change on its row, see `changewire.tables.mutations.EffectName`; NULL for
other elements."""

DECLARED: Final = "columns"
"""Column: the columns that the schema in a message declares, see `changewire.engines.declared`;
NULL without a schema, or if it cannot be read."""

OWN_COLUMNS: Final = (*CHANGE_COLUMNS, EFFECT, DECLARED)
"""Columns of decoded changes and control events, and no others."""

REJECTION_COLUMNS: Final = ("code", "pointer", "message", "byte_offset", "reasons", "format")

_OF_ELEMENT: Final = ("leniencies", *RECORD_COLUMNS, "element", "record_key")

CHANGES_TABLE: Final = (*CHANGE_COLUMNS, *_OF_ELEMENT)
"""Columns of changes and of control events."""

MESSAGES_TABLE: Final = ("variant", "content", *_OF_ELEMENT)
"""Columns of messages."""

DEAD_LETTERS_TABLE: Final = (
    *REJECTION_COLUMNS,
    "element",
    "key",
    "value",
    *RECORD_COLUMNS,
    "version",
)
"""Columns of dead letters, which are decoded again as they are: ``key`` is the key of the Kafka
record. Of changes it is that of the row."""


def table_of(kind: str) -> tuple[str, ...]:
    """Return the columns of the rows of a kind, apart from others."""
    return {DEAD_LETTER: DEAD_LETTERS_TABLE, MESSAGE: MESSAGES_TABLE}.get(kind, CHANGES_TABLE)
