"""Columns of Arrow, whether they are one array or several."""

from __future__ import annotations

from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Column: TypeAlias = pa.Array | pa.ChunkedArray


def as_array(column: Column) -> pa.Array:
    """Return a column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def indices_of(mask: Column) -> list[int]:
    """Return the indexes at which a column is true.

    Before pyarrow 26, `pyarrow.compute.indices_nonzero` crashes on a column of no arrays.
    """
    found: list[int] = pc.indices_nonzero(as_array(mask)).to_pylist()
    return found
