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
from changewire.engines.log import (
    ATTEMPT,
    ELEMENT_PLACE,
    MERGE_COLUMNS,
    REFUSED,
    columns_of_log,
    placed,
)
from changewire.engines.merge.becomes import Becomes, Floors
from changewire.engines.merge.delta import opened
from changewire.engines.merge.facts import exists, facts_of, source_of
from changewire.engines.merge.log import attempts_of
from changewire.engines.merge.look import all_mutations, of_table
from changewire.engines.merge.mutations import Fitted, fitted
from changewire.engines.merge.table import LocalTable, schema_of
from changewire.tables.names import Target
from changewire.tables.routing import UNROUTED, RouteKey, Routing

Read: TypeAlias = Callable[[Sequence[str], Collection[str]], Iterator[pa.Table]]
"""Yields some columns of the rows of some kinds of a log, by batches."""

_PLACE: Final = (*ELEMENT_PLACE, ATTEMPT)
_UNROUTED: Final = pa.array(sorted(UNROUTED), pa.string())


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

    def changes_of(self, target: Target) -> pa.Table:
        """Return all changes of a table, as the newest replay decoded each; refused ones too.

        They must fit into memory.
        """
        parts = [
            of_table(with_effects(self._newest(part)), self.known, target)
            for part in self.read(MERGE_COLUMNS, [CHANGE])
        ]
        return pa.concat_tables(parts) if parts else columns_of_log(MERGE_COLUMNS).empty_table()

    def fitted(self, changes: pa.Table, shape: Shape) -> Fitted:
        """Return what the changes of a table do that it did not refuse."""
        return fitted(all_mutations(self._accepted(changes), shape), shape)

    def rows_of(self, target: Target, shape: Shape, mutations: pa.Table) -> pa.Table:
        """Return the rows of a table, one for each key that is known; deleted ones are among them.

        A deleted row has its key alone.
        """
        if not len(mutations):
            return schema_of(shape).empty_table()
        floors = Floors(truncated=self.known.truncated(target))
        becomes = Becomes(shape, floors, has_patches=False)
        rows, *_ = becomes(mutations, None, {})
        return rows.drop_columns(rows.column_names[-1:])

    def _newest(self, rows: pa.Table) -> pa.Table:
        """Return changes without those that a replay decoded again."""
        return _kept(rows, self.attempts, 0, lambda attempt, newest: attempt >= newest)

    def _accepted(self, rows: pa.Table) -> pa.Table:
        """Return changes without the refused ones."""
        return _kept(rows, self.refused, -1, lambda attempt, refused: attempt > refused)


def _kept(
    rows: pa.Table, known: Mapping[Any, int], missing: int, holds: Callable[[int, int], bool]
) -> pa.Table:
    """Return changes whose attempt meets a condition on the one that is known of their place."""
    if not known:
        return rows
    kept = [
        holds(attempt, known.get(tuple(of_element), missing))
        for *of_element, attempt in attempts_of(rows)
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
    for part in read(MERGE_COLUMNS, [CHANGE, CONTROL]):
        # A source of which all changes found no table has none.
        kept = [one not in unrouted for one in attempts_of(part)]
        rows = with_effects(part.filter(pa.array(kept, pa.bool_())))
        for key, one in facts_of(rows, with_truncates=with_truncates).of.items():
            found[key] = found.get(key, SourceFacts()).plus(one)
    return LogContent(read, attempts, refused, KnownLog(routing, found, exists, source_of))


def table_there(name: str, log: str) -> LocalTable | None:
    """Return a table, whoever owns it; None if it does not exist. `log` is the id of the log.

    It may be one of an earlier version.
    """
    table = opened(name)
    return None if table is None else LocalTable(table, name, log)


def _add_newest(newest: dict[Any, int], rows: pa.Table) -> None:
    """Add the greatest attempts of elements that have a position, by their places."""
    for *of_element, attempt in attempts_of(placed(rows)):
        place = tuple(of_element)
        newest[place] = max(attempt, newest.get(place, 0))
