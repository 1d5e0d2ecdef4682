"""What is counted of changes in tables."""

from collections.abc import Mapping
from typing import Final

COUNTED: Final[Mapping[str, str]] = {
    "applied": "changed a row, or its tombstone; a change that moves a row does two things",
    "duplicate": "the row already has this content",
    "stale": "the row, its tombstone or its table's truncate is newer",
    "stale_full_load": "of these, rows of an initial load after a change with a sequence",
    "ordered_by_position": "only the position decided which of two contents is newer",
    "sequence_inherited": "had no sequence and took one, or is oldest",
    "lone_before_unused": "an unpaired before image, and images are not full",
    "key_missing": "not applied: no key",
}
"""What each name of `Result.counts` means, but for control events and dead letters, which have
their own."""

COUNTED_OFTEN: Final = (
    "a delete that names no table counts once for each table, a change that moves a row twice"
)
"""Why there may be more of these than changes."""

_EACH: Final = ("applied", "duplicate", "stale", "lone_before_unused", "key_missing")
"""Names that no other one includes."""


def more_than(counts: Mapping[str, int], changes: int) -> bool:
    """Tell whether `Result.counts` are more than there were changes."""
    return sum(counts.get(name, 0) for name in _EACH) > changes
