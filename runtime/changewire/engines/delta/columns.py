"""Arrow types of tables and their tombstones; those that the Spark engine gives them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from changewire.engines.effects import SEQUENCE
from changewire.engines.json_rows import COMMENTS, KEY, ROW
from changewire.tables.metadata import COLUMN

_ORDER_FIELDS: Final = [
    pa.field("sequence", SEQUENCE),
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("element", pa.int32()),
]

_ORDER: Final = pa.struct(_ORDER_FIELDS)

METADATA: Final = pa.struct(
    [
        *_ORDER_FIELDS,
        pa.field("columns", pa.map_(pa.string(), _ORDER)),
        pa.field("floor", _ORDER),
        pa.field("version", pa.int32()),
    ]
)
"""Type of `COLUMN`, as `changewire.tables.metadata_of` fills it."""

_TYPES: Final = {KEY: pa.string(), ROW: pa.string(), COLUMN: METADATA}

ROWS: Final = pa.schema(
    [pa.field(name, _TYPES[name], metadata={"comment": text}) for name, text in COMMENTS.items()]
)
"""Columns of a table whose rows are JSON text."""

TOMBSTONES: Final = pa.schema(
    [
        pa.field(KEY, pa.string()),
        pa.field(COLUMN, METADATA),
        pa.field("since", pa.timestamp("us", "UTC")),
    ]
)
"""Columns of a table of tombstones: the key as JSON text, its delete, and when that was written."""

EFFECTS_KEPT: Final = pa.schema(
    [
        pa.field(
            "source",
            pa.struct(
                [pa.field(name, pa.string()) for name in ("system", "database", "schema", "table")]
            ),
        ),
        pa.field(KEY, pa.string()),
        pa.field("kind", pa.string()),
        pa.field("names", pa.list_(pa.string())),
        *_ORDER_FIELDS,
        pa.field("after", pa.string()),
    ]
)
"""Columns of the deletes that a checkpoint keeps."""

TARGETS: Final = pa.schema(
    [
        pa.field("system", pa.string()),
        pa.field("database", pa.string()),
        pa.field("name", pa.string()),
        pa.field("origin", pa.list_(pa.string())),
    ]
)
"""Columns of the tables that a checkpoint knows: a source's namespace, and a target."""
