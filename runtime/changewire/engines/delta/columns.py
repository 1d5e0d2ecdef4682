"""Arrow types of tables and their tombstones; those that the Spark engine gives them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from changewire.engines.json_rows import COMMENTS, KEY, ROW
from changewire.tables.metadata import COLUMN
from changewire_messages.tables.arrow import KNOWN_TARGET, PENDING_DELETE, ROW_METADATA, TOMBSTONE

_TYPES: Final = {KEY: pa.string(), ROW: pa.string(), COLUMN: ROW_METADATA}

ROWS: Final = pa.schema(
    [pa.field(name, _TYPES[name], metadata={"comment": text}) for name, text in COMMENTS.items()]
)
"""Columns of a table whose rows are JSON text."""

TOMBSTONES: Final = pa.schema(TOMBSTONE.fields)
"""Columns of a table of tombstones."""

EFFECTS_KEPT: Final = pa.schema(PENDING_DELETE.fields)
"""Columns of the deletes that a checkpoint keeps."""

TARGETS: Final = pa.schema(KNOWN_TARGET.fields)
"""Columns of the tables that a checkpoint knows."""
