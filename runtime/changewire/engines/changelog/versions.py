"""Every version of the rows of one table, from a change log, without Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

import pyarrow as pa

from changewire.engines.changelog.logged import TIME, TableChanges
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import KEY, ROW, packed
from changewire.engines.kept import as_pairs
from changewire.tables.metadata import COLUMN
from changewire.tables.state import tombstone
from changewire.tables.version_rows import (
    SPAN_COLUMNS,
    VersionNames,
    noted_states,
    version_metadata,
)
from changewire.tables.versions import versions_of
from changewire_messages.tables.arrow import ORDER_FIELDS, ROW_END, VERSION_METADATA

_SEQUENCE: Final = ORDER_FIELDS.field("sequence").type
_BATCH: Final = 1024
_TIMED: Final = frozenset({"event_time", "metadata", COLUMN})
"""Columns that have times of changes."""

SPAN_TYPES: Final[dict[VersionNames, dict[str, pa.DataType]]] = {
    "plain": {"valid_from": TIME, "valid_to": TIME, "is_current": pa.bool_(), "op": pa.string()},
    "auto_cdc": {"__START_AT": _SEQUENCE, "__END_AT": _SEQUENCE},
}
"""Types of the columns of `SPAN_COLUMNS`."""


ENDS: Final = pa.schema([pa.field(KEY, pa.string()), *ROW_END])
"""Columns of the deletes that are kept beside a table of versions; truncates have no key."""


def check_spans(there: Collection[str], names: VersionNames, table: str) -> None:
    """Check that a table of versions has the columns of some names.

    Raises:
        OutputError: It was made with other names.
    """
    lacking = [name for name in SPAN_TYPES[names] if name not in there]
    if lacking:
        raise OutputError(
            f"{table}: it has no columns {', '.join(lacking)}, so it was made with other "
            f"history_names than {names!r}; give those, or drop it and the table of its deletes"
        )


def columns_fault(rows: Iterable[str], names: VersionNames) -> str | None:
    """Return why rows with some columns cannot have versions; None if they can."""
    spans = {name.lower() for name in (*SPAN_TYPES[names], COLUMN)}  # as Spark sees names
    taken = sorted(name for name in rows if name.lower() in spans)
    if not taken:
        return None
    return (
        f"rows have columns of the names {', '.join(taken)}, which a table of versions has too; "
        "other names for these avoid it"
    )


def versions_type(names: VersionNames) -> pa.Schema:
    """Return the columns of versions whose rows are JSON text."""
    return pa.schema([(KEY, pa.string()), (ROW, pa.string()), *span_fields(names)])


def span_fields(names: VersionNames) -> list[tuple[str, pa.DataType]]:
    """Return the columns of versions beside those of their rows."""
    return [*SPAN_TYPES[names].items(), (COLUMN, VERSION_METADATA)]


def version_table(changes: TableChanges, names: VersionNames) -> pa.Table:
    """Return the versions of all rows of a table, those of a row together, oldest first."""
    return tabled(_rows(changes, names), versions_type(names))


def tabled(rows: Iterator[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as a table."""
    batches: list[pa.RecordBatch] = []
    while some := [*islice(rows, _BATCH)]:
        batches.append(pa.RecordBatch.from_pylist(some, schema))
    return pa.Table.from_batches(batches, schema)


def _rows(changes: TableChanges, names: VersionNames) -> Iterator[dict[str, Any]]:
    truncates = [tombstone(order) for order, _ in changes.truncates]
    of_table = dict(changes.truncates)
    for key, mutations in sorted(changes.mutations.items()):
        found = noted_states(mutations)
        notes = of_table | {state.order: note for state, note in found}
        for version in versions_of([*(state for state, _ in found), *truncates]):
            row = {KEY: key, ROW: packed(key, version.values)}
            yield {**row, **version_columns(version_metadata(version, notes), names)}


def version_columns(metadata: Mapping[str, Any], names: VersionNames) -> dict[str, Any]:
    """Return the columns of a version beside those of its row, as Arrow takes them."""
    return {**SPAN_COLUMNS[names](metadata), COLUMN: as_arrow(metadata)}


def plain_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Yield the rows of batches, times of changes in microseconds and maps as dictionaries."""
    for batch in batches:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name in _TIMED & columns.keys():
            columns[name] = columns[name].cast(_without_times(columns[name].type))
        plain = pa.RecordBatch.from_arrays([*columns.values()], [*columns])
        yield from plain.to_pylist(maps_as_pydicts="strict")


def _without_times(kind: pa.DataType) -> pa.DataType:
    """Return a type with numbers in place of times: Python has no years beyond 9999."""
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_times(field.type)) for field in kind])
    return pa.list_(_without_times(kind.value_type)) if pa.types.is_list(kind) else kind


def as_arrow(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the column `COLUMN` of a version with its maps as Arrow takes maps."""
    later = metadata["later"]
    return {**as_pairs(metadata), "later": later and [as_pairs(one) for one in later]}
