"""What happens to the rows of a relational table: inserts, updates and deletes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from examples.making.rows import Json

Columns = Callable[[Random, int], Json]
"""Makes the columns of a row of its number."""


@dataclass(frozen=True)
class Event:
    """What happened to one row: before is None on an insert, after on a delete."""

    before: Json | None
    after: Json | None


def events(rng: Random, columns: Columns, count: int, *, key: str = "id") -> Iterator[Event]:
    """Yield what happens to a table, the key of a row being its number.

    One in three is an insert, one in six a delete; one in ten of the updates moves a row to
    another key.
    """
    rows: list[Json] = []
    for number in range(1, count + 1):
        kind = rng.randrange(6) if rows else 0
        before = rows.pop(rng.randrange(len(rows))) if kind > 1 else None
        if kind == 2:  # noqa: PLR2004 - one of the six
            yield Event(before, None)
            continue
        after = {key: number, **columns(rng, number)}
        if before is not None and rng.randrange(10):
            kept = rng.choice(list(after))
            after = {**after, key: before[key], kept: before.get(kept)}
        rows.append(after)
        yield Event(before, after)
