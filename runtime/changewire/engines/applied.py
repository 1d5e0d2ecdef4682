"""What all engines share that apply the changes of a log to tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from changewire.engines.errors import TooManyDeadLettersError
from changewire.engines.options import Limit
from changewire.engines.outcome import place_text

ANY: Final = "*"
"""In place of the name of a table, in a mapping of types: all other tables."""


KEYS: Final = "changewire.keys"
"""Property: the columns of the table's key."""

OWNER: Final = "changewire.query"
"""Property: id of the query that the table belongs to, which its checkpoint has."""


FIRST_REASONS: Final = 3
"""How many dead letters the error of too many names."""


def too_many(
    limit: Limit,
    elements: int,
    codes: Counter[str],
    first: Sequence[Mapping[str, Any]],
    batch: int,
) -> TooManyDeadLettersError:
    """Return the error of a batch that has too many dead letters; it says no values.

    Args:
        limit: How many it may have.
        elements: How many elements it has.
        codes: How many dead letters it has, by their codes.
        first: Rows of the first of them.
        batch: Its number.
    """
    named = ", ".join(f"{code} {number}" for code, number in codes.most_common(FIRST_REASONS))
    reasons = "; ".join(f"{place_text(row)}: {row['message']}" for row in first)
    return TooManyDeadLettersError(
        f"batch {batch}: {sum(codes.values())} of {elements} elements are dead letters "
        f"({named}), and max_dead_letters is {limit}. Nothing of the batch was written. "
        f"{len(first)} of them: {reasons}"
    )


def types_by_table(rows: Any) -> Mapping[str, Any]:
    """Return types by table; a mapping that is a schema is the type of all tables."""
    is_schema = not isinstance(rows, Mapping) or "properties" in rows or "type" in rows
    return {ANY: rows} if is_schema else rows
