"""The newest change of each key of a batch that the driver holds, and what became of the others.

The rule is that of `in_spark.newest_changes`, for changes that are plain.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.spark.apply.recent import RecentRows
from changewire.tables.order import NO_SEQUENCE, ChangePosition, Sequence


class NewestChanges(NamedTuple):
    """What the changes of a batch come to.

    Attributes:
        beyond: Rows of the newest changes of the keys that need no look, in any order.
        others: Rows of all changes of the other keys.
        counts: What became of the changes of the keys that need no look.
        newest: The greatest sequence of these.
        looked_up: How many other keys there are.
    """

    beyond: list[int]
    others: list[int]
    counts: Counter[str]
    newest: Sequence
    looked_up: int


@dataclass(slots=True)
class _Changes:
    """What is known of the changes of a key, in the order of their positions.

    Attributes:
        newest: Row of the newest one.
        last: Row of the last one.
        applied: How many were newer than all before them.
        duplicate: How many are the same as the one before them.
        stale: How many were older than one before them.
        is_simple: Whether the rule decides on them without a look at the table.
        has_loads: Whether one is of an initial load.
    """

    newest: int
    last: int
    has_loads: bool
    applied: int = 1
    duplicate: int = 0
    stale: int = 0
    is_simple: bool = True

    def add(self, row: int, sequences: list[Sequence]) -> bool:
        """Add a change; return whether it has the sequence of the one before, the newest so far."""
        sequence, newest, before = sequences[row], sequences[self.newest], sequences[self.last]
        is_same = sequence == newest == before
        if sequence > newest:
            self.applied += 1
            self.newest = row
        elif sequence < newest:
            self.stale += 1
        elif is_same:
            self.duplicate += 1
            self.newest = row
        else:
            self.is_simple = False
        self.has_loads = self.has_loads or sequence[0] < 0
        self.last = row
        return is_same

    @property
    def is_decided(self) -> bool:
        """Whether the newest change decides, if nothing in the table is newer."""
        # Stale rows of an initial load are counted by themselves.
        return self.is_simple and not (self.has_loads and self.stale)


def in_position(effects: pa.Table) -> pa.Table:
    """Return effects in the order of their positions."""
    return effects.sort_by([(name, "ascending") for name in ChangePosition._fields])


def newest_of(effects: pa.Table, recent: RecentRows) -> NewestChanges:
    """Return what the changes of a batch come to.

    Args:
        effects: As `plain.effects_in` returns them, in the order of their positions.
        recent: What was written to the table last.
    """
    parts = (effects[name].to_pylist() for name in ("key", "major", "minor"))
    keys, *numbers = parts
    sequences = [*zip(*numbers, strict=True)]
    alone, together = _by_number(effects["key"].combine_chunks())
    several = _of_several(effects, together, keys, sequences)
    known, bound = recent.sequences, recent.bound
    beyond = [row for row in alone if sequences[row] > known.get(keys[row], bound)]
    decides = [
        found
        for key, found in several.items()
        if found.is_decided and sequences[found.newest] > known.get(key, bound)
    ]
    counts = Counter(
        applied=len(beyond) + sum(found.applied for found in decides),
        duplicate=sum(found.duplicate for found in decides),
        stale=sum(found.stale for found in decides),
    )
    beyond += [found.newest for found in decides]
    newest = max((sequences[row] for row in beyond), default=NO_SEQUENCE)
    decided = {keys[row] for row in beyond}
    looked_up = len(alone) + len(several) - len(beyond)
    others = [row for row, key in enumerate(keys) if key not in decided] if looked_up else []
    return NewestChanges(beyond, others, +counts, newest, looked_up)


def _by_number(keys: pa.Array) -> tuple[list[int], list[int]]:
    """Return the rows whose key occurs once, and the others."""
    codes = keys.dictionary_encode().indices
    numbers = pc.value_counts(codes)  # in the order of the codes
    is_alone = pc.equal(numbers.field("counts"), 1).take(codes)
    masks = (is_alone, pc.invert(is_alone))
    alone, together = (pc.indices_nonzero(mask).to_pylist() for mask in masks)
    return alone, together


def _of_several(
    effects: pa.Table, rows: list[int], keys: list[str], sequences: list[Sequence]
) -> dict[str, _Changes]:
    """Return what is known of the changes of each key in some rows."""
    found: dict[str, _Changes] = {}
    pairs: list[tuple[int, int]] = []
    for row in rows:
        changes = found.get(keys[row])
        if changes is None:
            found[keys[row]] = _Changes(row, row, sequences[row][0] < 0)
            continue
        before = changes.last
        if changes.add(row, sequences):
            pairs.append((row, before))
    for row in _different(effects, pairs):
        found[keys[row]].is_simple = False
    return found


def _different(effects: pa.Table, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the rows, each with the one before it, that do not write the same."""
    rows, befores = ([pair[i] for pair in pairs] for i in (0, 1))
    texts, earlier = (_texts(effects.take(pa.array(one, pa.int64()))) for one in (rows, befores))
    both = zip(rows, texts, earlier, strict=True)
    return [row for row, text, before in both if text != before]


def _texts(changes: pa.Table) -> list[str]:
    """Return texts that are equal only if changes write the same, as all deletes do."""
    rows = zip(changes["is_delete"].to_pylist(), changes["content"].to_pylist(), strict=True)
    return ["" if is_delete else repr(content) for is_delete, content in rows]


def compared_texts(effects: pa.Table) -> list[str]:
    """Return texts of effects: two of one key and sequence have one text if they are the same."""
    names = ("key", "major", "minor")
    places = [*zip(*(effects[name].to_pylist() for name in names), strict=True)]
    number = Counter(places)
    several = [row for row, place in enumerate(places) if number[place] > 1]
    found = dict(zip(several, _texts(effects.take(pa.array(several, pa.int64()))), strict=True))
    return [found.get(row, "") for row in range(len(places))]
