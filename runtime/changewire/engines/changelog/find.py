"""The changes of one row, found in a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from changewire.engines.changelog.effects import images_by_key, is_before, update_of
from changewire.engines.changelog.keys import Wanted, parsed
from changewire.engines.changelog.logged import (
    LOGGED,
    Row,
    TableLog,
    accepted,
    conformed,
    rows_in,
    table_names,
)
from changewire.engines.changelog.source import KIND, LogRows
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.log import ATTEMPT, REFUSED
from changewire.tables.history import BeforeImage
from changewire.tables.keys import key_text
from changewire.tables.names import dotted
from changewire.tables.order import ChangePosition, PositionedChange, position_in
from changewire.tables.routing import TRUNCATE, goes_to_all, namespace_of
from changewire_messages.change import Change, Sequence, Source

_MESSAGE: Final = "message"
_TEXTS: Final = ("key", "before_key", "before", "after", "attributes")
_FOUND: Final = "found"
"""Column of rows that were found: the text of the key."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MOST: Final = 1000
"""Tables that are noted at most; a hostile log has as many as it likes."""


class Found(Struct, frozen=True):
    """What a log has of a key.

    Attributes:
        key: The key as `key_text`; None if it is not there.
        table: `dotted` name of the table that has it; None if only deletes of all tables do.
        changes: Its changes, and truncates of its table, in the order in which they were read:
            those that were replayed last.
        refused: Why no table took some of these, by their positions.
        befores: Which of these are before images that came alone, and what they do.
        tables: Key columns of the log's tables, by `dotted` name; none if no change has a key.
            Of a log with more than a thousand tables, those that came first.
    """

    key: str | None
    table: str | None
    changes: list[PositionedChange]
    refused: dict[ChangePosition, str]
    befores: dict[ChangePosition, BeforeImage]
    tables: dict[str, list[str]]


def find(log: LogRows, wanted: Wanted, table: str | None = None) -> Found:
    """Return the changes of a row. Memory holds these, all truncates, and a batch of the log.

    A delete that names no table goes to every table of its database.

    Args:
        log: The log.
        wanted: The key of the row.
        table: `dotted` name of the row's table; None if no other has the key.

    Raises:
        ValueError: Several keys, or several tables, are meant.
        OutputError: It is not a log.
        FramingError: The log cannot be read.
    """
    tables: dict[str, list[str]] = {}
    rows = [row for row in _rows(log, wanted, tables) if _may_be_of(row, table)]
    mine = [row for row in rows if row[_FOUND] is not None]
    key = _only({row[_FOUND] for row in mine}, "this may be any of {}: give one as JSON")
    sources = {source for row in mine if not _is_for_all(row, source := _source(row))}
    name = _only({dotted(one) for one in sources}, "several tables have this key, name one: {}")
    namespaces = {namespace_of(source) for source in sources}
    kept = [row for row in mine if not namespaces or namespace_of(_source(row)) in namespaces]
    truncates = [row for row in rows if row[_FOUND] is None and _source(row) in sources]
    found = accepted([*kept, *truncates])
    every = [*found.changes, *_refused_changes(kept, found), *found.truncates]
    every.sort(key=lambda row: (row[ATTEMPT], position_in(row)))
    return Found(
        key,
        name,
        [PositionedChange(_change(row), position_in(row)) for row in every],
        {position_in(row): row[_MESSAGE] or "" for row in found.refused},
        _befores(log, found.changes),
        tables,
    )


def _refused_changes(rows: Iterable[Row], found: TableLog) -> list[Row]:
    """Return the changes that are refused, each once."""
    places = {position_in(row) for row in found.refused}
    changes = {position_in(row): row for row in rows if row[KIND] == CHANGE}
    return [row for place, row in changes.items() if place in places]


def _only(found: set[str], otherwise: str) -> str | None:
    """Return the only one; None without any.

    Raises:
        ValueError: There are several.
    """
    if len(found) > 1:
        raise ValueError(otherwise.format(", ".join(sorted(found))))
    return next(iter(found), None)


def _source(row: Row) -> Source:
    return Source(**row["source"])


def _is_for_all(row: Row, source: Source) -> bool:
    """Whether a row is a delete of every table of its database."""
    return goes_to_all(row["op"], source)


def _may_be_of(row: Row, table: str | None) -> bool:
    """Whether a row may be of a table with a `dotted` name."""
    source = _source(row)
    name = dotted(source)
    is_for_all = _is_for_all(row, source) and table is not None and table.startswith(f"{name}.")
    return table is None or name == table or is_for_all


def _rows(log: LogRows, wanted: Wanted, tables: dict[str, list[str]]) -> Iterator[Row]:
    """Yield rows of a key, and truncates; note the key columns of each table."""
    log.check(*(name for name in LOGGED.names if name not in {KIND, ATTEMPT}))
    columns = {*LOGGED.names, _MESSAGE}
    for batch in log.batches((CHANGE, CONTROL, REFUSED), columns):
        part = conformed(batch, log)
        for table, first in _first_keys(part, tables):
            tables[table] = [] if first is None else [*_object(log, first)]
        chosen = [*_chosen(log, part, wanted)]
        places = pa.array([place for place, _ in chosen], pa.int64())
        has_message = _MESSAGE in batch.schema.names
        messages = batch.column(_MESSAGE).take(places).to_pylist() if has_message else []
        for number, row in enumerate(rows_in(part.take(places))):
            message = messages[number] if has_message else None
            yield {**row, _FOUND: chosen[number][1], _MESSAGE: message}


def _chosen(
    log: LogRows, batch: pa.RecordBatch, wanted: Wanted
) -> Iterator[tuple[int, str | None]]:
    """Yield the places of rows of a key, with its text, and those of truncates."""
    columns = (batch.column(name).to_pylist() for name in ("op", "key", "before_key"))
    for place, (op, *texts) in enumerate(zip(*columns, strict=True)):
        if op == TRUNCATE:
            yield place, None
            continue
        keys = (_object(log, text) for text in texts if text is not None)
        found = next((key for key in keys if wanted.is_key(key)), None)
        if found is not None:
            yield place, key_text(found)


def _object(log: LogRows, text: str) -> dict[str, Any]:
    try:
        return parsed(text)
    except ValueError:
        raise OutputError(f"{log}: a row of it is not a JSON object: no log?") from None


def _change(row: Row) -> Change:
    """Return a change of a log; values of its rows are as JSON has them."""
    texts: dict[str, Any] = {name: row[name] and parsed(row[name]) for name in _TEXTS}
    sequence = row["sequence"]
    return Change(
        op=row["op"],
        source=_source(row),
        event_time=_time(row["event_time"]),
        sequence=None if sequence is None else Sequence(**sequence),
        ddl=None,
        schema_fingerprint=None,
        **texts,
    )


def _time(microseconds: int | None) -> datetime | None:
    """Return a time; None for those that Python does not have."""
    try:
        return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def _befores(log: LogRows, changes: Iterable[Row]) -> dict[ChangePosition, BeforeImage]:
    """Return what before images do that came alone, by all images of their updates."""
    mine = [row for row in changes if is_before(row)]
    updates: dict[Any, list[Row]] = {update_of(row): [] for row in mine}
    updates.pop(None, None)
    if not updates:
        return {}
    majors = pa.array(sorted({update[-1] for update in updates}), pa.int64())
    for row in accepted(_updates(log, majors)).changes:
        if (update := update_of(row)) in updates:
            updates[update].append(row)
    found: dict[ChangePosition, BeforeImage] = {}
    for images in updates.values():
        gone, others = images_by_key(images)
        what: BeforeImage = "moved" if others else "waits"
        found |= {position_in(row): what for rows in gone.values() for row in rows}
    return found


def _updates(log: LogRows, majors: pa.Array) -> Iterator[Row]:
    """Yield updates with some first numbers of their sequences, and what was refused of them."""
    for batch in log.batches((CHANGE, REFUSED), LOGGED.names):
        part = conformed(batch, log)
        is_near = pc.is_in(pc.struct_field(part.column("sequence"), "major"), majors)
        is_update = pc.and_(pc.equal(part.column("op"), "update"), is_near)
        yield from rows_in(part.filter(is_update))


def _first_keys(
    batch: pa.RecordBatch, known: Mapping[str, list[str]]
) -> Iterator[tuple[str, str | None]]:
    """Yield the `dotted` name of each table of a batch of which no key is known, and a key.

    The key is None if no change in the batch has one.
    """
    batch = batch.filter(pc.invert(pc.equal(batch.column(KIND), CONTROL)))
    names = table_names(batch.column("source"))
    number = len(known)
    for name in pc.unique(names).to_pylist():
        number += name not in known
        if known.get(name) or number > _MOST:
            continue
        keys = batch.column("key").filter(pc.equal(names, name)).drop_null()
        yield name, keys[0].as_py() if len(keys) else None
