"""Which tables a change log has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.tables.names import NO_TABLE

_PARTS: Final = ("database", "schema", "table")
_MOST: Final = 1000
"""Tables that are noted at most; a hostile log has as many as it likes."""


def first_keys(
    batch: pa.RecordBatch, known: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str | None]]:
    """Yield the `dotted` name of each table of a batch of which no key is known, and a key.

    Args:
        batch: Rows of a change log.
        known: Key columns by table; none of a table whose changes had no key so far.
    """
    names = _names(batch.column("source"))
    number = len(known)
    for name in pc.unique(names).to_pylist():
        number += name not in known
        if known.get(name) or number > _MOST:
            continue
        keys = batch.column("key").filter(pc.equal(names, name)).drop_null()
        yield name, keys[0].as_py() if len(keys) else None


def _names(sources: Any) -> Any:
    """Return the names of tables, as `dotted` gives them."""
    parts = [sources.field(name).cast(pa.string()) for name in _PARTS]
    given = [pc.if_else(pc.equal(part, ""), pa.scalar(None, pa.string()), part) for part in parts]
    joined = pc.binary_join_element_wise(*given, ".", null_handling="skip")
    return pc.if_else(pc.equal(joined, ""), NO_TABLE, joined)
