"""The changes of one table, as in a log."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.sources import NO_TABLE
from changewire.codec.issues import is_utf8
from changewire.engines.changelog.source import KIND, LogRows
from changewire.engines.elements import decoded_schema
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.log import ATTEMPT, ELEMENT_PLACE, REFUSED, place_of
from changewire.tables.mutations import DELETE
from changewire.tables.order import Order, position_in, sequence_of
from changewire.tables.routing import TRUNCATE, goes_to_all
from changewire.tables.version_rows import ChangeNote
from changewire_messages.change import Sequence, Source

Row: TypeAlias = dict[str, Any]
"""A row of a log by its columns; the time of its change is microseconds since the Unix epoch."""

TIME: Final = pa.timestamp("us", tz="UTC")

TEXTS: Final = ("key", "before_key", "before", "after", "attributes")
_NEEDED: Final = ("op", "source", "event_time", "sequence", *TEXTS, *ELEMENT_PLACE)

LOGGED: Final = pa.schema(
    [
        pa.field(KIND, pa.string()),
        *(decoded_schema().field(name) for name in _NEEDED),
        pa.field(ATTEMPT, pa.int32()),
    ]
)
"""Columns of a log that say the effects of its changes on rows."""

MESSAGE: Final = "message"
"""Column: why a change is refused."""

READ: Final = LOGGED.append(pa.field(MESSAGE, pa.string()))
_DEFAULTS: Final[Mapping[str, Any]] = {KIND: CHANGE, ATTEMPT: 0, MESSAGE: None}
"""Of columns that a table of changes alone may lack."""

_PARTS: Final = ("database", "schema", "table")

Attempts: TypeAlias = dict[Any, int]
"""The newest attempts of elements that were replayed, by their places."""


class TableLog(NamedTuple):
    """Content of a log of a table: changes that it takes, truncates, and why others are refused."""

    changes: list[Row]
    truncates: list[Row]
    refused: list[Row]


def table_log(log: LogRows, table: Any) -> TableLog:
    """Return the content of a log of a table, and of deletes of all tables of its database.

    A ValueError names several tables that have the name.
    """
    if not isinstance(table, str):
        raise TypeError(f"table is the name of a table, not {type(table).__name__}")
    if not is_utf8(table):
        raise ValueError("table: expected UTF-8 without zero bytes")
    attempts: Attempts = {}
    parts = logged(log, (CHANGE, CONTROL, REFUSED), attempts)
    rows = (row for part in parts for row in rows_in(_of_table(part, table)))
    found = accepted(rows, attempts)
    every = ((row["op"], Source(**row["source"])) for rows in found for row in rows)
    check_name({source for op, source in every if not goes_to_all(op, source)})
    return found


def check_name(sources: Iterable[Source]) -> None:
    """Refuse tables of different names that are one if `dotted`, by a ValueError."""
    names = {tuple(getattr(one, part) or None for part in _PARTS) for one in sources}
    if len(names) > 1:
        parts = [dict(zip(_PARTS, one, strict=True)) for one in sorted(names, key=repr)]
        texts = [str({name: text for name, text in one.items() if text}) for one in parts]
        text = "several tables have this name, give a log with one of them: "
        raise ValueError(text + " and ".join(texts))


def logged(
    log: LogRows, kinds: Collection[str], attempts: Attempts | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield rows of a log with the columns `LOGGED` and `MESSAGE`; `attempts` gets its replays."""
    log.check(*_NEEDED)
    for batch in log.batches(kinds, READ.names):
        found = batch
        for name, value in _DEFAULTS.items():
            if name not in batch.schema.names:
                column = pa.repeat(pa.scalar(value, READ.field(name).type), len(batch))
                found = found.append_column(name, column)
        try:
            part = found.select(READ.names).cast(READ)
        except pa.ArrowException as error:
            raise OutputError(f"{log}: no log with rows as JSON text: {error}") from None
        if attempts is not None:
            is_again = pc.and_(pc.greater(part[ATTEMPT], 0), pc.not_equal(part[KIND], REFUSED))
            for row in part.select([*ELEMENT_PLACE, ATTEMPT]).filter(is_again).to_pylist():
                place = place_of(row)
                attempts[place] = max(row[ATTEMPT], attempts.get(place, 0))
        yield part


def _of_table(part: pa.RecordBatch, table: str) -> pa.RecordBatch:
    """Return the rows of a table, and the deletes of all tables of its database."""
    source = part.column("source")
    names = table_names(source)
    above = [name for name in pc.unique(names).to_pylist() if table.startswith(f"{name}.")]
    has_no_table = pc.is_null(source.field("table"))
    is_for_all = pc.and_(pc.equal(part.column("op"), DELETE), has_no_table)
    is_above = pc.is_in(names, pa.array(above, pa.string()))
    return part.filter(pc.or_(pc.equal(names, table), pc.and_(is_for_all, is_above)))


def table_names(sources: Any) -> Any:
    """Return the names of tables, as `changewire.changes.sources.dotted` gives them."""
    parts = [sources.field(name).cast(pa.string()) for name in _PARTS]
    given = [pc.if_else(pc.equal(part, ""), pa.scalar(None, pa.string()), part) for part in parts]
    # Arrow leaves out a row in which all parts are NULL.
    given[0] = pc.if_else(reduce(pc.and_, map(pc.is_null, given)), "", given[0])
    joined = pc.binary_join_element_wise(*given, ".", null_handling="skip")
    return pc.if_else(pc.equal(joined, ""), NO_TABLE, joined)


def rows_in(batch: pa.RecordBatch) -> Iterator[Row]:
    """Yield the rows of a batch; Python has no times beyond the year 9999."""
    place = batch.schema.get_field_index("event_time")
    times = batch.column(place).cast(TIME).cast(pa.int64())
    yield from batch.set_column(place, "event_time", times).to_pylist()


def accepted(rows: Iterable[Row], attempts: Mapping[Any, int] | None = None) -> TableLog:
    """Return the rows of a log by their kinds; only the last one of a place counts.

    They may be read while `attempts` is filled, which knows elements that have another table now.
    """
    newest: dict[Any, Row] = {}
    refused: dict[Any, Row] = {}
    for row in rows:
        found, place = refused if row[KIND] == REFUSED else newest, place_of(row)
        if place not in found or row[ATTEMPT] > found[place][ATTEMPT]:
            found[place] = row
    last = {place: row[ATTEMPT] for place, row in newest.items()} | {**(attempts or {})}
    is_open = {place: row for place, row in refused.items() if row[ATTEMPT] >= last.get(place, 0)}
    valid = {place: row for place, row in newest.items() if row[ATTEMPT] >= last[place]}
    changes = [row for at, row in valid.items() if row[KIND] == CHANGE and at not in is_open]
    truncates = [one for one in valid.values() if one[KIND] == CONTROL and one["op"] == TRUNCATE]
    return TableLog(changes, truncates, [*is_open.values()])


def truncates_of(rows: Iterable[Row]) -> list[tuple[Order, ChangeNote]]:
    """Return truncates that have a sequence, as tables apply them; others are left out."""
    return [
        (Order(sequence_of(Sequence(**row["sequence"])), position_in(row)), note_of(row))
        for row in rows
        if row["sequence"] is not None
    ]


def note_of(row: Mapping[str, Any]) -> ChangeNote:
    """Return the properties of the change that made a version."""
    return ChangeNote(row["op"], row["event_time"])
