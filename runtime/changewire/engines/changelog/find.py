"""The changes of one row, found in a change log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from changewire.engines.changelog.folders import Folder, Log
from changewire.engines.changelog.keys import Wanted, parsed
from changewire.engines.changelog.letters import rejected_changes
from changewire.engines.changelog.logged import table_names
from changewire.engines.layout import CHANGE_COLUMNS, RECORD_PLACE
from changewire.framing import FramingError
from changewire.framing import Position as RecordPosition
from changewire.tables.keys import key_text
from changewire.tables.names import dotted
from changewire.tables.order import ChangePosition, PositionedChange, position_of
from changewire.tables.routing import TRUNCATE, goes_to_all, namespace_of
from changewire_messages.change import Change, Sequence, Source

_ROWS: Final = ("key", "before_key", "before", "after", "attributes")
_BATCH: Final = "batch"
"""Column of logs that a stream wrote as Parquet."""

_NEEDED: Final = (*CHANGE_COLUMNS, *RECORD_PLACE, "element")
_MOST: Final = 1000
"""Tables that are noted at most; a hostile log has as many as it likes."""


class _Logged(NamedTuple):
    """A change of a key, after those of earlier batches and of lower positions."""

    batch: int
    placed: PositionedChange
    key: str | None

    @property
    def source(self) -> Source:
        return self.placed.change.source

    @property
    def is_for_all(self) -> bool:
        """Whether it is a delete of every table of its database."""
        return goes_to_all(self.placed.change.op, self.source)

    def may_be_of(self, table: str) -> bool:
        """Whether it may be of a table with a `dotted` name."""
        name = dotted(self.source)
        return name == table or (self.is_for_all and table.startswith(f"{name}."))


class Found(Struct, frozen=True):
    """What a change log has of a key.

    Attributes:
        key: The key as `key_text`; None if it is not there.
        table: `dotted` name of the table that has it; None if only deletes of all tables do.
        changes: Its changes, and truncates of its table, in the order in which they were read: by
            batch if the log has it, then by position.
        refused: Why no table took some of these, by their positions.
        tables: Key columns of the log's tables, by `dotted` name; none if no change has a key.
            Of a log with more than a thousand tables, those that came first.
    """

    key: str | None
    table: str | None
    changes: list[PositionedChange]
    refused: dict[ChangePosition, str]
    tables: dict[str, list[str]]


def find(log: Log, wanted: Wanted, table: str | None = None) -> Found:
    """Return the changes of a row. Memory holds these, and a few batches of the log.

    A delete that names no table goes to every table of its database.

    Args:
        log: The change log.
        wanted: The key of the row.
        table: `dotted` name of the row's table; None if no other has the key.

    Raises:
        ValueError: Several keys, or several tables, are meant.
        FramingError: The log cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    tables: dict[str, list[str]] = {}
    logged = [*_changes(log.changes, wanted, tables)]
    why: dict[ChangePosition, str] = {}
    known = {one.placed.position for one in logged}
    for letter in () if log.dead_letters is None else rejected_changes(log.dead_letters, wanted):
        if letter.placed.position not in known:
            logged.append(_Logged(0, letter.placed, letter.key))
            why[letter.placed.position] = letter.why
    logged = [one for one in logged if table is None or one.may_be_of(table)]
    key = _only({one.key for one in logged if one.key}, "this may be any of {}: give one as JSON")
    sources = {one.source for one in logged if not one.is_for_all}
    names = {dotted(source) for source in sources}
    name = _only(names, "several tables have this key, name one: {}")
    return Found(key, name, _history(logged, sources, log.controls), why, tables)


def _only(found: set[str], otherwise: str) -> str | None:
    """Return the only one; None without any.

    Raises:
        ValueError: There are several.
    """
    if len(found) > 1:
        raise ValueError(otherwise.format(", ".join(sorted(found))))
    return next(iter(found), None)


def _history(
    logged: list[_Logged], sources: set[Source], controls: str | None
) -> list[PositionedChange]:
    """Return the changes of one table, and its truncates, in the order in which they were read."""
    namespaces = {namespace_of(source) for source in sources}
    kept = [one for one in logged if not namespaces or namespace_of(one.source) in namespaces]
    if kept and controls is not None:
        kept += _truncates(controls, sources)
    return [one.placed for one in sorted(kept, key=lambda one: (one.batch, one.placed.position))]


def _changes(folder: str, wanted: Wanted, tables: dict[str, list[str]]) -> Iterator[_Logged]:
    """Yield the changes of a key; note the key columns of each table."""
    for batch in _opened(folder).batches({*_NEEDED, _BATCH}):
        for table, first in _first_keys(batch, tables):
            tables[table] = [] if first is None else [*_row_of(folder, first)]
        chosen: dict[int, str] = {}
        for name in ("key", "before_key"):
            for place, text in enumerate(batch.column(name).to_pylist()):
                if text is None:
                    continue
                key = _row_of(folder, text)
                if wanted.is_key(key):
                    chosen[place] = key_text(key)
        rows = batch.take(pa.array([*chosen], pa.int64())).to_pylist()
        for row, found in zip(rows, chosen.values(), strict=True):
            yield _logged(folder, row, found)


def _opened(folder: str) -> Folder:
    """Open a log whose rows are JSON text.

    Raises:
        FramingError: It is something else.
    """
    table = Folder(folder)
    kinds = {name: table.type_of(name) for name in _NEEDED}
    for name in _ROWS:
        if not pa.types.is_string(kinds[name]):
            raise FramingError(folder, None, f"its column {name!r} is no JSON text: no change log?")
    return table


def _row_of(folder: str, text: str) -> dict[str, Any]:
    try:
        return parsed(text)
    except ValueError:
        raise FramingError(folder, None, "a row of it is no JSON object: no change log?") from None


def _truncates(folder: str, sources: set[Source]) -> Iterator[_Logged]:
    """Yield the truncates of a table."""
    for batch in _opened(folder).batches({*_NEEDED, _BATCH}, pc.field("op") == TRUNCATE):
        for row in batch.to_pylist():
            found = _logged(folder, row, None)
            if found.source in sources:
                yield found


def _logged(folder: str, row: Mapping[str, Any], key: str | None) -> _Logged:
    """Return a change of a log; values of its rows are as JSON has them."""
    columns: dict[str, Any] = {name: row[name] for name in CHANGE_COLUMNS}
    columns |= {name: _row_of(folder, row[name]) for name in _ROWS if row[name] is not None}
    columns["source"] = Source(**row["source"])
    columns["sequence"] = None if row["sequence"] is None else Sequence(**row["sequence"])
    place = RecordPosition(**{name: row[name] for name in RECORD_PLACE})
    placed = PositionedChange(Change(**columns), position_of(place, row["element"]))
    return _Logged(row.get(_BATCH) or 0, placed, key)


def _first_keys(
    batch: pa.RecordBatch, known: Mapping[str, list[str]]
) -> Iterator[tuple[str, str | None]]:
    """Yield the `dotted` name of each table of a batch of which no key is known, and a key.

    The key is None if no change in the batch has one.
    """
    names = table_names(batch.column("source"))
    number = len(known)
    for name in pc.unique(names).to_pylist():
        number += name not in known
        if known.get(name) or number > _MOST:
            continue
        keys = batch.column("key").filter(pc.equal(names, name)).drop_null()
        yield name, keys[0].as_py() if len(keys) else None
