"""The changes of one table, as a change log has them: who made them, and what they do to rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.pairs import pair_placed
from changewire.engines.changelog.keys import parsed
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import unpacked
from changewire.engines.layout import RECORD_COLUMNS, RECORD_PLACE
from changewire.tables.batch import KeyedMutation, TableMutations
from changewire.tables.keys import key_text
from changewire.tables.mutations import DELETE, RowMutation, mutations
from changewire.tables.names import NO_TABLE
from changewire.tables.order import ChangePosition, Order, position_in, sequence_of
from changewire.tables.routing import TRUNCATE
from changewire.tables.version_rows import ChangeNote
from changewire_messages.change import Change, Sequence, Source
from changewire_messages.tables.arrow import PENDING_DELETE

_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "key": parsed,
    "before_key": parsed,
    "before": unpacked,
    "after": unpacked,
    "attributes": parsed,
}
"""What reads the columns that are JSON text; values of rows stay the text that they were."""

TIME: Final = pa.timestamp("us", tz="UTC")

LOGGED: Final = pa.schema(
    [
        ("op", pa.string()),
        ("source", PENDING_DELETE.field("source").type),
        ("event_time", TIME),
        ("sequence", PENDING_DELETE.field("sequence").type),
        *((name, pa.string()) for name in _READ),
        *((name, RECORD_COLUMNS[name]) for name in RECORD_PLACE),
        ("element", pa.int32()),
    ]
)
"""Columns of a change log that say what its changes do to rows."""

_PARTS: Final = ("database", "schema", "table")


class LoggedChange(NamedTuple):
    """A change of a log.

    Attributes:
        change: The change without its time; values of its rows are the JSON text that they were.
        position: Where it was read.
        note: Its operation and its time.
        after: The row after it, as the text that it was.
    """

    change: Change
    position: ChangePosition
    note: ChangeNote
    after: str | None

    @property
    def image(self) -> Any:
        """What its images hold of the row."""
        return self.change.attributes.get("image", "full")


def of_table(batch: pa.RecordBatch, table: str) -> pa.RecordBatch:
    """Return the changes of a table, and the deletes of all tables of its database.

    Args:
        batch: Columns `LOGGED`, perhaps in other types of text, and others.
        table: `dotted` name of the table.

    Raises:
        OutputError: A column is not there, or is of another type.
    """
    for name in LOGGED.names:
        if name not in batch.schema.names:
            raise OutputError(f"no change log: it has no column {name!r}")
    try:
        batch = batch.select(LOGGED.names).cast(LOGGED)
    except pa.ArrowException as error:
        raise OutputError(f"no change log with rows as JSON text: {error}") from None
    source = batch.column("source")
    names = table_names(source)
    above = [name for name in pc.unique(names).to_pylist() if table.startswith(f"{name}.")]
    has_no_table = pc.is_null(source.field("table"))
    is_for_all = pc.and_(pc.equal(batch.column("op"), DELETE), has_no_table)
    is_above = pc.is_in(names, pa.array(above, pa.string()))
    is_wanted = pc.or_(pc.equal(names, table), pc.and_(is_for_all, is_above))
    return batch.filter(is_wanted)


def table_names(sources: Any) -> Any:
    """Return the names of tables, as `changewire.tables.names.dotted` gives them."""
    parts = [sources.field(name).cast(pa.string()) for name in _PARTS]
    given = [pc.if_else(pc.equal(part, ""), pa.scalar(None, pa.string()), part) for part in parts]
    joined = pc.binary_join_element_wise(*given, ".", null_handling="skip")
    return pc.if_else(pc.equal(joined, ""), NO_TABLE, joined)


def logged(batch: pa.RecordBatch) -> Iterator[LoggedChange]:
    """Yield the changes of a batch with the columns `LOGGED`.

    Raises:
        OutputError: A row is no JSON object.
    """
    place = batch.schema.get_field_index("event_time")
    times = batch.column(place).cast(TIME).cast(pa.int64())
    for row in batch.set_column(place, "event_time", times).to_pylist():
        note = ChangeNote(row["op"], row["event_time"])
        yield LoggedChange(_change(row), position_in(row), note, row["after"])


def _change(row: dict[str, Any]) -> Change:
    sequence = row["sequence"]
    try:
        texts: dict[str, Any] = {
            name: row[name] and read(row[name]) for name, read in _READ.items()
        }
    except (ValueError, msgspec.MsgspecError):
        raise OutputError("no change log: a row of it is no JSON object") from None
    return Change(
        op=row["op"],
        source=Source(**row["source"]),
        event_time=None,
        sequence=None if sequence is None else Sequence(**sequence),
        ddl=None,
        schema_fingerprint=None,
        **texts,
    )


def paired(changes: Iterable[LoggedChange]) -> Iterator[LoggedChange]:
    """Yield changes in the order of their positions, with two images of an update as one.

    Full images stay as they are. They say the same in two changes, and so they do if a stream reads
    them in two batches.
    """
    ordered = sorted(changes, key=lambda one: one.position)
    yield from (one for one in ordered if one.image == "full")
    placed = [(one, one.change) for one in ordered if one.image != "full"]
    for one, change in pair_placed(placed, size=len(placed) or 1):
        yield one._replace(change=change)


class TableChanges(NamedTuple):
    """All changes of one table.

    Attributes:
        mutations: What they do to rows, by the keys as `key_text`.
        truncates: Truncates of the table.
    """

    mutations: dict[str, list[tuple[RowMutation, ChangeNote]]]
    truncates: list[tuple[Order, ChangeNote]]


def table_changes(
    changes: Iterable[LoggedChange], truncates: Iterable[LoggedChange]
) -> TableChanges:
    """Return what changes of a table do to its rows, with the images of updates paired.

    Truncates without a sequence are left out, as tables do.
    """
    found = TableChanges(defaultdict(list), [*truncates_of(truncates)])
    for one in paired(changes):
        for mutation in mutations(one.change, one.position):
            found.mutations[key_text(mutation.key)].append((mutation, one.note))
    return found


def keyed_mutations(changes: Iterable[LoggedChange]) -> TableMutations:
    """Return what changes do to rows, by the keys as `key_text`, with the changes' numbers."""
    found: TableMutations = {}
    for number, one in enumerate(changes):
        for mutation in mutations(one.change, one.position):
            key = key_text(mutation.key)
            found.setdefault(key, []).append(KeyedMutation(key, mutation, number))
    return found


def truncates_of(controls: Iterable[LoggedChange]) -> Iterator[tuple[Order, ChangeNote]]:
    """Yield the truncates among control events that have a sequence."""
    for one in controls:
        if one.change.op == TRUNCATE and one.change.sequence is not None:
            yield Order(sequence_of(one.change.sequence), one.position), one.note
