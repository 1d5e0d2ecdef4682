"""Whether dead letters look like messages of another format, as where the wrong one was named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

from changewire.codec import detect
from changewire.engines.layout import DEAD_LETTER

_MOST: Final = 1000
"""Dead letters that are looked at."""


class LookAlikes(NamedTuple):
    """How many dead letters look like messages of a format.

    Attributes:
        format: Public name of the format.
        dead_letters: How many look like it.
        looked_at: How many were looked at, of which these are more than half.
    """

    format: str
    dead_letters: int
    looked_at: int

    def __str__(self) -> str:
        """Return a sentence for people, with what to do."""
        return (
            f"{self.dead_letters:,} of {self.looked_at:,} dead letters look like {self.format}: "
            f"read them with --format {self.format}, or with auto"
        )


def look_alikes(log: Path, format: str) -> LookAlikes | None:
    """Return what most dead letters look like; None if that is the format, or none.

    Args:
        log: A log of Parquet or Delta; the first 1,000 of its dead letters are looked at.
        format: Public name of the format that they were read in.
    """
    import pyarrow.dataset as ds

    is_dead = ds.field("kind") == DEAD_LETTER
    rows = ds.dataset(log, format="parquet").head(_MOST, columns=["value"], filter=is_dead)
    found = Counter(None if value is None else detect(value) for value in rows["value"].to_pylist())
    for name, count in found.most_common(1):
        if name is not None and name != format and 2 * count > len(rows):
            return LookAlikes(name, count, len(rows))
    return None
