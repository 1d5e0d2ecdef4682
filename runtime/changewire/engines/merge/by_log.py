"""Rows of tables by their log alone: what they become by all changes that count."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.changelog.shapes import Shape
from changewire.engines.effects import with_effects
from changewire.engines.known import KnownLog, SourceFacts
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.log import ATTEMPT, ELEMENT_PLACE, REFUSED, placed
from changewire.engines.merge.becomes import Becomes, Floors
from changewire.engines.merge.delta import opened
from changewire.engines.merge.facts import exists, facts_of, source_of
from changewire.engines.merge.log import attempts_of
from changewire.engines.merge.look import LOOKED, all_mutations, of_table
from changewire.engines.merge.mutations import fitted
from changewire.engines.merge.table import LocalTable, schema_of
from changewire.tables.names import Target
from changewire.tables.routing import UNROUTED, RouteKey, Routing
from changewire.tables.row_state import COLUMN

Read: TypeAlias = Callable[[Sequence[str], Collection[str]], Iterator[pa.Table]]
"""Yields some columns of the rows of some kinds of a log, by batches."""

_PLACE: Final = (*ELEMENT_PLACE, ATTEMPT)
_UNROUTED: Final = pa.array(sorted(UNROUTED), pa.string())


class _NoRows:
    """A table without rows, which has some columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def rows(
        self, keys: pa.Table | None, *, are_patched: bool = False
    ) -> Iterator[Mapping[str, Any]]:
        del keys, are_patched
        return iter(())


@dataclass(frozen=True)
class LogContent:
    """The changes of a log that count.

    Attributes:
        read: Yields its rows.
        attempts: Newest attempts of elements that were replayed, by their places.
        refused: Newest attempts that the target refused, by places.
        known: The tables that they go to.
    """

    read: Read
    attempts: Mapping[Any, int]
    refused: Mapping[Any, int]
    known: KnownLog

    def rows_of(self, target: Target, shape: Shape) -> pa.Table:
        """Return the rows of a table, one for each key that is known; deleted ones are among them.

        A deleted row has its key alone. The changes of the table must fit into memory.
        """
        parts = [
            of_table(with_effects(self._accepted(part)), self.known, target)
            for part in self.read(LOOKED, [CHANGE])
        ]
        if not parts:
            return schema_of(shape).empty_table()
        mutations = fitted(all_mutations(pa.concat_tables(parts), shape), shape).mutations
        floors = Floors(truncated=self.known.truncated(target))
        becomes = Becomes(shape, floors, has_patches=False)
        rows, _ = becomes(mutations, _NoRows([*shape.schema.names, COLUMN]), {})
        return rows.drop_columns(rows.column_names[-1:])

    def _accepted(self, rows: pa.Table) -> pa.Table:
        """Return changes without those that a replay decoded again, or that no table takes."""
        if not self.attempts and not self.refused:
            return rows
        kept = [
            attempt >= self.attempts.get(place, 0) and attempt > self.refused.get(place, -1)
            for *of_element, attempt in attempts_of(rows)
            for place in (tuple(of_element),)
        ]
        return rows.filter(pa.array(kept, pa.bool_()))


def content_of(read: Read, routing: Routing, *, with_truncates: bool) -> LogContent:
    """Return the content of a log, which is read once for it, and once for each table."""
    attempts: dict[Any, int] = {}
    refused: dict[Any, int] = {}
    unrouted: set[Any] = set()
    for part in read(_PLACE, [CHANGE, CONTROL]):
        _add_newest(attempts, part.filter(pc.greater(part[ATTEMPT], 0)))
    for part in map(placed, read((*_PLACE, "code"), [REFUSED])):
        _add_newest(refused, part)
        unrouted.update(attempts_of(part.filter(pc.is_in(part["code"], _UNROUTED))))
    found: dict[RouteKey, SourceFacts] = {}
    for part in read(LOOKED, [CHANGE, CONTROL]):
        # A source of which all changes found no table has none.
        kept = [one not in unrouted for one in attempts_of(part)]
        rows = with_effects(part.filter(pa.array(kept, pa.bool_())))
        for key, one in facts_of(rows, with_truncates=with_truncates).of.items():
            found[key] = found.get(key, SourceFacts()).plus(one)
    return LogContent(read, attempts, refused, KnownLog(routing, found, exists, source_of))


def table_there(name: str, log: str) -> LocalTable | None:
    """Return a table, whoever owns it; None if it does not exist. `log` is the id of the log."""
    table = opened(name)
    return None if table is None else LocalTable(table, name, log)


def _add_newest(newest: dict[Any, int], rows: pa.Table) -> None:
    """Add the greatest attempts of elements that have a position, by their places."""
    for *of_element, attempt in attempts_of(placed(rows)):
        place = tuple(of_element)
        newest[place] = max(attempt, newest.get(place, 0))
