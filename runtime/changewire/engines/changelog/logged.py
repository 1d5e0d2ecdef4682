"""The changes of one table, as a log has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.changelog.source import KIND, LogRows
from changewire.engines.elements import decoded_schema
from changewire.engines.errors import OutputError
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.log import ATTEMPT, ELEMENT_PLACE, REFUSED
from changewire.tables.mutations import DELETE
from changewire.tables.names import NO_TABLE
from changewire.tables.order import Order, position_in, sequence_of
from changewire.tables.routing import TRUNCATE
from changewire.tables.version_rows import ChangeNote
from changewire_messages.change import Sequence

Row: TypeAlias = dict[str, Any]
"""A row of a log by its columns; the time of its change is microseconds since the Unix epoch."""

TIME: Final = pa.timestamp("us", tz="UTC")

_TEXTS: Final = ("key", "before_key", "before", "after", "attributes")
_NEEDED: Final = ("op", "source", "event_time", "sequence", *_TEXTS, *ELEMENT_PLACE)

LOGGED: Final = pa.schema(
    [
        pa.field(KIND, pa.string()),
        *(decoded_schema().field(name) for name in _NEEDED),
        pa.field(ATTEMPT, pa.int32()),
    ]
)
"""Columns of a log that say what its changes do to rows."""

_DEFAULTS: Final[Mapping[str, Any]] = {KIND: CHANGE, ATTEMPT: 0}
"""Of columns that a table of changes alone may lack."""

_PARTS: Final = ("database", "schema", "table")


class TableLog(NamedTuple):
    """What a log has of one table.

    Attributes:
        changes: Changes that tables take, each once, as the newest replay decoded it.
        truncates: Truncates of the table.
        refused: Rows that say why no table took other changes.
    """

    changes: list[Row]
    truncates: list[Row]
    refused: list[Row]


def table_log(log: LogRows, table: str) -> TableLog:
    """Return what a log has of a table, and of deletes of all tables of its database.

    Memory holds it.

    Args:
        log: The log.
        table: `dotted` name of the table.

    Raises:
        OutputError: It is not a log, or one whose rows are not JSON text.
        FramingError: It cannot be read.
    """
    log.check(*_NEEDED)
    found = log.batches((CHANGE, CONTROL, REFUSED), LOGGED.names)
    return accepted(row for batch in found for row in rows_in(of_table(batch, table, log)))


def of_table(batch: pa.RecordBatch, table: str, log: LogRows) -> pa.RecordBatch:
    """Return the rows of a table, and the deletes of all tables of its database.

    Args:
        batch: Columns `LOGGED`, perhaps in other types of text, and others.
        table: `dotted` name of the table.
        log: The log, for errors.

    Raises:
        OutputError: A column is of another type.
    """
    batch = conformed(batch, log)
    source = batch.column("source")
    names = table_names(source)
    above = [name for name in pc.unique(names).to_pylist() if table.startswith(f"{name}.")]
    has_no_table = pc.is_null(source.field("table"))
    is_for_all = pc.and_(pc.equal(batch.column("op"), DELETE), has_no_table)
    is_above = pc.is_in(names, pa.array(above, pa.string()))
    is_wanted = pc.or_(pc.equal(names, table), pc.and_(is_for_all, is_above))
    return batch.filter(is_wanted)


def conformed(batch: pa.RecordBatch, log: LogRows) -> pa.RecordBatch:
    """Return rows of a log with the columns `LOGGED`.

    Raises:
        OutputError: A column is of another type.
    """
    for name, value in _DEFAULTS.items():
        if name not in batch.schema.names:
            batch = batch.append_column(name, pa.repeat(pa.scalar(value), len(batch)))
    try:
        return batch.select(LOGGED.names).cast(LOGGED)
    except (pa.ArrowException, KeyError) as error:
        raise OutputError(f"{log}: no log with rows as JSON text: {error}") from None


def table_names(sources: Any) -> Any:
    """Return the names of tables, as `changewire.tables.names.dotted` gives them."""
    parts = [sources.field(name).cast(pa.string()) for name in _PARTS]
    given = [pc.if_else(pc.equal(part, ""), pa.scalar(None, pa.string()), part) for part in parts]
    # Arrow leaves out a row in which all parts are NULL.
    are_null = reduce(pc.and_, map(pc.is_null, given))
    given[0] = pc.if_else(are_null, "", given[0])
    joined = pc.binary_join_element_wise(*given, ".", null_handling="skip")
    return pc.if_else(pc.equal(joined, ""), NO_TABLE, joined)


def rows_in(batch: pa.RecordBatch) -> Iterator[Row]:
    """Yield the rows of a batch with the columns `LOGGED`."""
    place = batch.schema.get_field_index("event_time")
    times = batch.column(place).cast(TIME).cast(pa.int64())
    yield from batch.set_column(place, "event_time", times).to_pylist()


def accepted(rows: Iterable[Row]) -> TableLog:
    """Return the rows of a log by what they are, each change once."""
    found: dict[str, dict[Any, Row]] = {CHANGE: {}, TRUNCATE: {}, REFUSED: {}}
    for number, row in enumerate(rows):
        is_truncate = row["op"] == TRUNCATE
        kind = TRUNCATE if row[KIND] == CONTROL and is_truncate else row[KIND]
        if kind not in found:
            continue
        place = place_of(row, number)
        known = found[kind].get(place)
        if known is None or row[ATTEMPT] > known[ATTEMPT]:
            found[kind][place] = row
    changes, refused = found[CHANGE], found[REFUSED]
    is_open = {
        place: row
        for place, row in refused.items()
        if place not in changes or row[ATTEMPT] >= changes[place][ATTEMPT]
    }
    taken = [row for place, row in changes.items() if place not in is_open]
    return TableLog(taken, [*found[TRUNCATE].values()], [*is_open.values()])


def place_of(row: Mapping[str, Any], number: int) -> tuple[Any, ...]:
    """Return what tells an element from all others: its place, or without any a number of ours."""
    place = tuple(row[name] for name in ELEMENT_PLACE)
    return place if row["offset"] is not None or row["number"] is not None else (number,)


def truncates_of(rows: Iterable[Row]) -> list[tuple[Order, ChangeNote]]:
    """Return truncates that have a sequence, as tables apply them; others are left out."""
    return [
        (Order(sequence_of(Sequence(**row["sequence"])), position_in(row)), note_of(row))
        for row in rows
        if row["sequence"] is not None
    ]


def note_of(row: Mapping[str, Any]) -> ChangeNote:
    """Return what a version says of the change of a row."""
    return ChangeNote(row["op"], row["event_time"])
