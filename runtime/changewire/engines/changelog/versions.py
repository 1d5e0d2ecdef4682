"""Every version of the rows of one table, key by key: in one process, or in tasks of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import pyarrow as pa
from msgspec import UNSET

from changewire.engines.changelog.effects import Effect
from changewire.engines.changelog.logged import TIME, note_of
from changewire.engines.changelog.shapes import GROUP, Shape
from changewire.engines.errors import OutputError
from changewire.tables import version_rows
from changewire.tables.merge import merged
from changewire.tables.order import OLDEST, Order
from changewire.tables.row_state import COLUMN, row_state
from changewire.tables.state import tombstone
from changewire.tables.version_rows import VersionNames
from changewire.tables.versions import versions_of
from changewire_messages.tables.arrow import ORDER_FIELDS, ROW_STATE, VERSION_METADATA

_SEQUENCE: Final = ORDER_FIELDS.field("sequence").type
_BATCH: Final = 1024

SPAN_TYPES: Final[dict[VersionNames, dict[str, pa.DataType]]] = {
    "plain": {"valid_from": TIME, "valid_to": TIME, "is_current": pa.bool_(), "op": pa.string()},
    "auto_cdc": {"__START_AT": _SEQUENCE, "__END_AT": _SEQUENCE},
}
"""Types of the columns of `SPAN_COLUMNS`."""

Truncates = Sequence[tuple[Order, version_rows.ChangeNote]]


class Versions:
    """Makes the versions of rows, with the columns `schema`. It pickles."""

    def __init__(self, shape: Shape, truncates: Truncates, names: VersionNames) -> None:
        """Remember how rows are given, the truncates of the table, and how columns are named."""
        self.shape = shape
        self.schema: Any = _schema(shape, {**SPAN_TYPES[names], COLUMN: VERSION_METADATA})
        self._truncates = truncates
        self._names: VersionNames = names

    def rows(self, effects: Sequence[Effect]) -> Iterator[dict[str, Any]]:
        """Yield the versions of one row, oldest first, by all that changes do to it."""
        named, found = self.shape.mutations(effects)
        states = version_rows.noted_states(zip(found, map(note_of, effects), strict=True))
        notes = dict(self._truncates) | {state.order: note for state, note in states}
        gone = [tombstone(order) for order, _ in self._truncates]
        for version in versions_of([*(state for state, _ in states), *gone]):
            metadata = version_rows.version_metadata(version, notes)
            row = self.shape.row(named, version.values)
            yield {**row, **version_rows.SPAN_COLUMNS[self._names](metadata), COLUMN: metadata}


class Newest:
    """Makes the rows that a table has now. It has the attributes of `Versions`."""

    def __init__(self, shape: Shape, truncates: Truncates) -> None:
        """Remember how rows are given, and the newest truncate of the table."""
        self.shape = shape
        self.schema: Any = _schema(shape, {COLUMN: ROW_STATE})
        self._floor = max((order for order, _ in truncates), default=OLDEST)

    def rows(self, effects: Sequence[Effect]) -> Iterator[dict[str, Any]]:
        """Yield one row, by all that changes do to it; nothing if it is deleted."""
        named, found = self.shape.whole_mutations(effects)
        ordered = sorted(found, key=lambda mutation: mutation.position)
        state = merged(None, ordered, self._floor)
        if state is not UNSET and state.values is not None:
            yield {**self.shape.row(named, state.values), COLUMN: row_state(state)}


def by_key(effects: Iterable[Effect], make: Versions | Newest) -> pa.Table:
    """Return what is made of each row, in the order of keys; memory has all effects."""
    groups: dict[str, list[Effect]] = {}
    for one in make.shape.keyed(effects):
        groups.setdefault(one[GROUP], []).append(one)
    rows = (row for _, of_key in sorted(groups.items()) for row in make.rows(of_key))
    return pa.Table.from_batches(batched(rows, make.schema), make.schema)


def batched(rows: Iterator[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows by batches."""
    while some := [*islice(rows, _BATCH)]:
        yield pa.RecordBatch.from_pylist(some, schema)


def _schema(shape: Shape, more: dict[str, pa.DataType]) -> pa.Schema:
    """Return the columns of rows and some others, whose names they must not have."""
    taken = {name.lower() for name in more}  # as Spark sees names
    both = sorted(name for name in shape.columns.names if name.lower() in taken)
    if both:
        raise OutputError(
            f"rows have columns of the names {', '.join(both)}, which a table of versions has too; "
            "other names for these avoid it"
        )
    return pa.schema([*shape.columns, *more.items()])
