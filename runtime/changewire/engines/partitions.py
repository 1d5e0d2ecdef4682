"""How tables are partitioned: by columns, or by transforms of them."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

TIMES: Final = ("years", "months", "days", "hours")
"""Transforms of dates and times."""

_TRANSFORM: Final = re.compile(
    rf"({'|'.join(TIMES)})\(\s*([^,]+?)\s*\)|bucket\(([1-9]\d{{0,8}}),\s*(.+?)\s*\)"
)


class Partition(NamedTuple):
    """A column that partitions a table, or a transform of it.

    Attributes:
        column: Name of the column.
        transform: One of `TIMES`, or ``bucket``; empty for the values of the column.
        buckets: How many buckets there are.
    """

    column: str
    transform: str = ""
    buckets: int = 0


def partition_of(text: str) -> Partition:
    """Return what ``days(created_at)``, ``bucket(16, id)`` or the name of a column says."""
    found = _TRANSFORM.fullmatch(text)
    if found is None:
        return Partition(text)
    if found[1]:
        return Partition(found[2], found[1])
    return Partition(found[4], "bucket", int(found[3]))


def delta_fault(name: str, kind: Any, *, is_key: bool) -> str | None:
    """Return why a table of Delta cannot be partitioned by a column; None if it can."""
    if kind == "binary":
        return f"column {name!r} is binary, which delta-rs does not read as a partition"
    if kind == "string" and is_key:
        return f"column {name!r} of the key is text, which as a partition has NULL for ''"
    return None
