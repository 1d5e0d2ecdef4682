"""Every version of the rows of one table, from a change log, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import pyarrow as pa

from changewire.engines.changelog.logged import TIME, TableChanges
from changewire.engines.json_rows import KEY, ROW, packed
from changewire.engines.kept import as_pairs
from changewire.tables.metadata import COLUMN
from changewire.tables.state import tombstone
from changewire.tables.version_rows import (
    SPAN_COLUMNS,
    Notes,
    VersionNames,
    noted_states,
    version_metadata,
)
from changewire.tables.versions import Version, versions_of
from changewire_messages.tables.arrow import ORDER_FIELDS, VERSION_METADATA

_SEQUENCE: Final = ORDER_FIELDS.field("sequence").type
_BATCH: Final = 1024

SPAN_TYPES: Final[dict[VersionNames, dict[str, pa.DataType]]] = {
    "plain": {"valid_from": TIME, "valid_to": TIME, "is_current": pa.bool_(), "op": pa.string()},
    "auto_cdc": {"__START_AT": _SEQUENCE, "__END_AT": _SEQUENCE},
}
"""Types of the columns of `SPAN_COLUMNS`."""


def versions_type(names: VersionNames) -> pa.Schema:
    """Return the columns of versions whose rows are JSON text."""
    columns = {KEY: pa.string(), ROW: pa.string(), **SPAN_TYPES[names], COLUMN: VERSION_METADATA}
    return pa.schema([*columns.items()])


def version_table(changes: TableChanges, names: VersionNames) -> pa.Table:
    """Return the versions of all rows of a table, those of a row together, oldest first."""
    rows = _rows(changes, names)
    schema = versions_type(names)
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
            yield {**row, **version_columns(version, notes, names)}


def version_columns(version: Version, notes: Notes, names: VersionNames) -> dict[str, Any]:
    """Return the columns of a version beside those of its row, as Arrow takes them."""
    metadata = version_metadata(version, notes)
    return {**SPAN_COLUMNS[names](metadata), COLUMN: as_arrow(metadata)}


def as_arrow(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the column `COLUMN` of a version with its maps as Arrow takes maps."""
    later = metadata["later"]
    return {**as_pairs(metadata), "later": later and [as_pairs(one) for one in later]}
