"""What the engines share that decide on hard keys by `changewire.tables`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire.engines.effects import mutation_of
from changewire.tables.mutations import RowMutation


def mutation_in(row: Mapping[str, Any], values: Mapping[str, Any]) -> RowMutation:
    """Return a mutation that is in a row of its own, with the fields of its order.

    Args:
        row: Columns ``kind``, ``names`` and those of the order.
        values: Columns of the row after the change; None for what is null.
    """
    major = row["major"]
    sequence = None if major is None else {"major": major, "minor": row["minor"]}
    return mutation_of({**row, "sequence": sequence}, values)
