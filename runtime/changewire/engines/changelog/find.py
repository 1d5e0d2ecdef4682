"""The changes of one row, found in a change log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from changewire.engines.changelog.folders import Folder, Log
from changewire.engines.changelog.keys import Wanted, parsed
from changewire.engines.layout import CHANGE_COLUMNS
from changewire.framing import FramingError
from changewire.framing import Position as RecordPosition
from changewire.tables.apply import TRUNCATE
from changewire.tables.keys import key_text
from changewire.tables.names import dotted
from changewire.tables.order import Placed, position_of
from changewire.tables.routing import Namespace, goes_to_all, namespace_of
from changewire_messages.change import Change, Sequence, Source

_PLACE: Final = ("topic", "partition", "offset", "path", "number")
_ROWS: Final = ("key", "before_key", "before", "after", "attributes")
_BATCH: Final = "batch"
"""Column of logs that a stream wrote as Parquet."""

_NEEDED: Final = (*CHANGE_COLUMNS, *_PLACE, "element")


class _Logged(NamedTuple):
    """A change, after those of earlier batches and of lower positions."""

    batch: int
    placed: Placed


class Found(Struct, frozen=True):
    """What a change log has of a key.

    Attributes:
        key: The key as `key_text`; None where it is not there.
        tables: Tables that have it, as `dotted` names.
        changes: Its changes, and truncates of its table, in the order in which they were read: by
            batch where the log tells it, then by position.
        columns: Columns that the log's first key has.
    """

    key: str | None
    tables: list[str]
    changes: list[Placed]
    columns: list[str]


def find(log: Log, wanted: Wanted, table: str | None = None) -> Found:
    """Return the changes of a row. Memory holds these, and a few batches of the log.

    A delete that names no table goes to every table of its database.

    Args:
        log: The change log.
        wanted: The key of the row.
        table: `dotted` name of the row's table; None where no other has the key.

    Raises:
        ValueError: Several keys, or several tables, are meant.
        FramingError: The log cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    columns: list[str] = []
    logged: list[_Logged] = []
    keys: set[str] = set()
    for row, key in _rows(log.changes, wanted, columns):
        change = _change(log.changes, row)
        if table is None or dotted(change.source) == table or _is_for_all(change):
            logged.append(_logged(row, change))
            keys.add(key)
    if len(keys) > 1:
        raise ValueError(f"this may be any of {', '.join(sorted(keys))}: give one as JSON")
    sources = {one.placed.change.source for one in logged if not _is_for_all(one.placed.change)}
    tables = sorted({dotted(source) for source in sources})
    if len(tables) > 1:
        raise ValueError(f"several tables have this key, name one: {', '.join(tables)}")
    changes = _history(logged, sources, log.controls)
    return Found(next(iter(keys), None), tables, changes, columns)


def _history(logged: list[_Logged], sources: set[Source], controls: str | None) -> list[Placed]:
    """Return the changes of one table, and its truncates, in the order in which they were read."""
    namespaces = {namespace_of(source) for source in sources}
    kept = [one for one in logged if not namespaces or _is_of(one.placed.change, namespaces)]
    if kept and controls is not None:
        kept += _truncates(controls, sources)
    return [one.placed for one in sorted(kept, key=_reading_order)]


def _reading_order(one: _Logged) -> tuple[Any, ...]:
    return one.batch, one.placed.position


def _is_for_all(change: Change) -> bool:
    return goes_to_all(change.op, change.source)


def _is_of(change: Change, namespaces: set[Namespace]) -> bool:
    return namespace_of(change.source) in namespaces


def _rows(folder: str, wanted: Wanted, columns: list[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the rows of a log that are of a key, with its text; note the first key's columns."""
    for batch in _opened(folder).batches({*_NEEDED, _BATCH}):
        chosen: dict[int, str] = {}
        for name in ("key", "before_key"):
            for place, text in enumerate(batch.column(name).to_pylist()):
                if text is None:
                    continue
                key = _row_of(folder, text)
                columns.extend(() if columns else key)
                if wanted.is_key(key):
                    chosen[place] = key_text(key)
        rows = batch.take(pa.array([*chosen], pa.int64())).to_pylist()
        yield from zip(rows, chosen.values(), strict=True)


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
    for batch in _opened(folder).batches(_NEEDED, pc.field("op") == TRUNCATE):
        for row in batch.to_pylist():
            change = _change(folder, row)
            if change.source in sources:
                yield _logged(row, change)


def _logged(row: Mapping[str, Any], change: Change) -> _Logged:
    place = RecordPosition(**{name: row[name] for name in _PLACE})
    return _Logged(row.get(_BATCH) or 0, Placed(change, position_of(place, row["element"])))


def _change(folder: str, row: Mapping[str, Any]) -> Change:
    """Return a change of a log; values of its rows are as JSON has them."""
    columns: dict[str, Any] = {name: row[name] for name in CHANGE_COLUMNS}
    columns |= {name: _row_of(folder, row[name]) for name in _ROWS if row[name] is not None}
    columns["source"] = Source(**row["source"])
    columns["sequence"] = None if row["sequence"] is None else Sequence(**row["sequence"])
    return Change(**columns)
