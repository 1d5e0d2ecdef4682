"""The changes of one row in a log, and what each did to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from changewire.changes.sources import dotted
from changewire.engines.changelog.effects import (
    LoggedImages,
    effects_of,
    is_before,
    key_in,
    update_of,
)
from changewire.engines.changelog.keys import Wanted, parsed
from changewire.engines.changelog.logged import (
    MESSAGE,
    TEXTS,
    Attempts,
    Row,
    accepted,
    check_name,
    logged,
    rows_in,
    table_names,
)
from changewire.engines.changelog.source import KIND, LogRows
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.log import ATTEMPT, REFUSED, is_placed
from changewire.tables.history import BeforeImage, History, history_of
from changewire.tables.keys import key_text
from changewire.tables.order import ChangePosition, PositionedChange, position_in
from changewire.tables.routing import TRUNCATE, goes_to_all, namespace_of
from changewire_messages.change import Change, Sequence, Source

_FOUND: Final = "found"
"""Column of rows that were found: the text of the key."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MOST: Final = 1000
"""Tables that are noted at most; a hostile log has as many as it likes."""


class Found(Struct, frozen=True):
    """The content of a log of a key: its changes, and truncates of its table, as they were read.

    Those that were replayed come last. Without the key, `tables` has the key columns of the log's
    tables by their `dotted` names, of more than a thousand those that came first.
    """

    key: str | None
    table: str | None
    changes: list[PositionedChange]
    refused: dict[ChangePosition, str]
    befores: dict[ChangePosition, BeforeImage]
    tables: dict[str, list[str]]


def traced(log: LogRows, wanted: Wanted, table: str | None, *, truncates: bool) -> History:
    """Return what each change did to a row; no steps if the log does not have it."""
    return history_in(find(log, wanted, table), truncates=truncates)


def history_in(found: Found, *, truncates: bool) -> History:
    """Return what the changes that were found did to their row."""
    if found.key is None:
        return History([], None, None)
    return history_of(
        found.key,
        found.changes,
        refused=found.refused,
        befores=found.befores,
        apply_truncates=truncates,
    )


def find(log: LogRows, wanted: Wanted, table: str | None = None) -> Found:
    """Return the changes of a row.

    These, all truncates and a batch of the log must fit into memory. A delete that names no table
    goes to every table of its database. A ValueError names several keys, or several tables, that
    are meant.
    """
    attempts: Attempts = {}
    rows = [row for row in _rows(log, wanted, attempts) if _may_be_of(row, table)]
    mine = [row for row in rows if row[_FOUND] is not None]
    key = _only({row[_FOUND] for row in mine}, "this may be any of {}: give one as JSON")
    sources = {source for row in mine if not goes_to_all(row["op"], source := _source(row))}
    name = _only({dotted(one) for one in sources}, "several tables have this key, name one: {}")
    check_name(sources)
    namespaces = {namespace_of(source) for source in sources}
    kept = [row for row in mine if not namespaces or namespace_of(_source(row)) in namespaces]
    truncates = [row for row in rows if row[_FOUND] is None and _source(row) in sources]
    found = accepted([*kept, *truncates], attempts)
    # A refusal without a position may be of any change.
    refused = {position_in(row): row[MESSAGE] or "" for row in found.refused if is_placed(row)}
    # A refused change is shown by its newest row alone.
    newest = {position_in(row): row for row in kept if row[KIND] == CHANGE}
    others = [row for place, row in newest.items() if place in refused]
    every = [*found.changes, *others, *found.truncates]
    every.sort(key=lambda row: (row[ATTEMPT], position_in(row)))
    changes = [PositionedChange(_change(row), position_in(row)) for row in every]
    tables = {} if mine else key_columns_of(log)
    return Found(key, name, changes, refused, _befores(log, found.changes), tables)


def _only(found: set[str], otherwise: str) -> str | None:
    """Return the only one; None without any."""
    if len(found) > 1:
        raise ValueError(otherwise.format(", ".join(sorted(found))))
    return next(iter(found), None)


def _source(row: Row) -> Source:
    return Source(**row["source"])


def _may_be_of(row: Row, table: str | None) -> bool:
    """Whether a row may be of a table with a `dotted` name."""
    source = _source(row)
    name = dotted(source)
    is_above = table is not None and table.startswith(f"{name}.")
    return table in {None, name} or (is_above and goes_to_all(row["op"], source))


def _rows(log: LogRows, wanted: Wanted, attempts: Attempts) -> Iterator[Row]:
    """Yield rows of a key, with its text in the column `_FOUND`, and truncates with None there."""
    for part in logged(log, (CHANGE, CONTROL, REFUSED), attempts):
        columns = (part.column(name).to_pylist() for name in ("op", "key", "before_key"))
        chosen: dict[int, str | None] = {}
        for place, (op, *texts) in enumerate(zip(*columns, strict=True)):
            keys = (_object(log, text) for text in texts if text is not None)
            found = None if op == TRUNCATE else next(filter(wanted.is_key, keys), None)
            if op == TRUNCATE or found is not None:
                chosen[place] = None if found is None else key_text(found)
        rows = rows_in(part.take(pa.array([*chosen], pa.int64())))
        for row, key in zip(rows, chosen.values(), strict=True):
            yield {**row, _FOUND: key}


def key_columns_of(log: LogRows) -> dict[str, list[str]]:
    """Return the key columns of the tables of a log, by their `dotted` names.

    Of more than a thousand tables there are those that came first.
    """
    found: dict[str, list[str]] = {}
    for batch in log.batches((CHANGE, REFUSED), ("source", "key")):
        names = table_names(batch.column("source")).to_pylist()
        keys = batch.column("key").cast(pa.string()).to_pylist()
        for name, key in zip(names, keys, strict=True):
            if not found.get(name) and (name in found or len(found) < _MOST):
                found[name] = [] if key is None else [*_object(log, key)]
    return found


def _object(log: LogRows, text: str) -> dict[str, Any]:
    try:
        return parsed(text)
    except ValueError:
        raise OutputError(f"{log}: a row of it is not a JSON object: no log?") from None


def _change(row: Row) -> Change:
    """Return a change of a log; values of its rows are as in JSON."""
    texts: dict[str, Any] = {name: row[name] and parsed(row[name]) for name in TEXTS}
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
    found = [update_of(row) for row in changes if is_before(row)]
    updates = {one: LoggedImages() for one in found if one is not None}
    if not updates:
        return {}
    for row in accepted(_updates(log, {major for _, major in updates})).changes:
        if (update := update_of(row)) in updates:
            updates[update].add(row, key_in(effects_of(row)))
    befores: dict[ChangePosition, BeforeImage] = {}
    for images in updates.values():
        what: BeforeImage = "moved" if images.has_moved else "waits"
        befores |= {position_in(row): what for rows in images.gone().values() for row in rows}
    return befores


def _updates(log: LogRows, majors: set[int]) -> Iterator[Row]:
    """Yield updates with some first numbers of their sequences, and what was refused of them."""
    wanted = pa.array(sorted(majors), pa.int64())
    for part in logged(log, (CHANGE, REFUSED)):
        is_near = pc.is_in(pc.struct_field(part.column("sequence"), "major"), wanted)
        yield from rows_in(part.filter(pc.and_(pc.equal(part.column("op"), "update"), is_near)))
