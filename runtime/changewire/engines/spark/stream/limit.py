"""How many dead letters a batch may hold."""

from __future__ import annotations

import re
from typing import Final

from changewire.engines.counts import Counts
from changewire.engines.errors import TooManyDeadLettersError
from changewire.engines.outcome import place_text
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.write import first_dead_letters

Limit = int | str
"""A number of dead letters, or a share of the batch's elements such as ``"5%"``."""

_PER_CENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) ?%")
_WHOLE: Final = 100
_REASONS: Final = 3


def allowed(limit: Limit, elements: int) -> float:
    """Return how many of a batch's elements may be dead letters.

    Raises:
        ValueError: The limit is neither a number from 0 nor a share up to 100 per cent.
    """
    if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0:
        return limit
    found = _PER_CENT.fullmatch(limit) if isinstance(limit, str) else None
    if found is None or float(found[1]) > _WHOLE:
        text = f"max_dead_letters is a number such as 100 or a share such as '5%', not {limit!r}"
        raise ValueError(text)
    return elements * float(found[1]) / _WHOLE


def check(limit: Limit | None, counts: Counts, decoded: Decoded, batch: int) -> None:
    """Refuse a batch with too many dead letters.

    Raises:
        TooManyDeadLettersError: With how many there are, and the first reasons, without values.
    """
    if limit is None or counts.dead_letters <= allowed(limit, counts.elements):
        return
    codes = ", ".join(f"{code} {n}" for code, n in counts.by_error_code.most_common(_REASONS))
    first = first_dead_letters(decoded, limit=_REASONS, show_values=False)
    reasons = "; ".join(f"{place_text(row)}: {row['message']}" for row in first)
    raise TooManyDeadLettersError(
        f"batch {batch}: {counts.dead_letters} of {counts.elements} elements are dead letters "
        f"({codes}), and max_dead_letters is {limit}. Nothing of the batch was written. "
        f"{len(first)} of them: {reasons}"
    )
