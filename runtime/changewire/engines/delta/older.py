"""Which rows of a table are older than a truncate, as SQL says it."""

from __future__ import annotations

from typing import Final

from changewire.tables.metadata import COLUMN
from changewire.tables.order import Order

_FIELD: Final = f'"{COLUMN}"'


def older_than(floor: Order) -> str:
    """Return the condition that the newest write of a row is not newer than a truncate.

    It is never NULL. Text compares by its bytes, which in UTF-8 is the order of its characters, as
    in Python.

    Args:
        floor: Order of the truncate; it has a sequence.
    """
    major, minor = floor.sequence
    topic, partition, offset, element = floor.position
    parts = {
        "['sequence']['major']": str(major),
        "['sequence']['minor']": str(minor),
        "['topic']": f"'{topic.replace(chr(39), chr(39) * 2)}'",
        "['partition']": str(partition),
        "['offset']": str(offset),
        "['element']": str(element),
    }
    condition = "true"
    for path, value in reversed(parts.items()):
        field = f"{_FIELD}{path}"
        condition = f"({field} < {value} OR ({field} = {value} AND {condition}))"
    return f"({_FIELD}['sequence'] IS NULL OR COALESCE({condition}, false))"
