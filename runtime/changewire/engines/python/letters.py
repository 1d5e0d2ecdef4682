"""The first dead letters of a run, which its report shows."""

from __future__ import annotations

import heapq
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.layout import DEAD_LETTER
from changewire.engines.outcome import FIRST_DEAD_LETTERS, PLACE_COLUMNS
from changewire.engines.outputs import place_order

Letters: TypeAlias = list[tuple[Any, dict[str, Any]]]
"""Dead letters, each with what orders it."""


def first_letters(first: Letters, rows: pa.RecordBatch | pa.Table, *, show_values: bool) -> Letters:
    """Return the first dead letters by position, of those known and those in a batch."""
    dead = rows.filter(pc.equal(rows.column("kind"), DEAD_LETTER))
    columns = [*PLACE_COLUMNS, *(["value"] if show_values else [])]
    letters = dead.slice(0, FIRST_DEAD_LETTERS).select(columns).to_pylist()
    found = [*first, *((place_order(letter), letter) for letter in letters)]
    return heapq.nsmallest(FIRST_DEAD_LETTERS, found, key=lambda item: item[0])
