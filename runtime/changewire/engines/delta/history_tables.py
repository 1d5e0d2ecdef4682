"""Tables of versions in folders, and the tables of deletes beside them: made, opened, refused."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
from deltalake import DeltaTable

from changewire.engines.changelog.versions import ENDS, SPAN_TYPES, check_spans
from changewire.engines.delta.columns import TOMBSTONES
from changewire.engines.delta.shapes import JSON, Shape
from changewire.engines.delta.tables import (
    check_history,
    check_path,
    is_newest,
    keys_of,
    made,
    reported,
    set_property,
    there,
)
from changewire.engines.errors import OutputError
from changewire.engines.kept import KEYS, SUFFIX, TableHistory, property_text
from changewire.engines.retries import retried
from changewire.tables.metadata import COLUMN
from changewire.tables.names import beside
from changewire.tables.version_rows import VersionNames
from changewire_messages.tables.arrow import VERSION_METADATA


class VersionTables(NamedTuple):
    """A table of versions with its deletes, each at its newest version.

    Attributes:
        versions: The table; None while its columns are not known.
        ends: Its deletes, and truncates, which have no key.
        shape: How the table has its rows.
        schema: Its columns.
        names: How they are named.
    """

    versions: DeltaTable | None
    ends: DeltaTable
    shape: Shape
    schema: pa.Schema
    names: VersionNames

    def are_newest(self) -> bool:
        """Whether no other writer wrote them since they were read or written here."""
        return all(is_newest(one) for one in (self.versions, self.ends) if one is not None)


def version_tables(place: TableHistory, shape: Shape | None) -> VersionTables:
    """Return the tables of versions of a table, made if they are not there.

    Raises:
        OutputError: They are there, and have other columns, or are not for delta-rs to read.
        WriteConflictError: Another writer changed them meanwhile.
    """
    check_path(place.table)
    ends = made(place.ends, ENDS)
    schema = _schema(shape or JSON, place.names)
    table = None if shape is None else _versions(place, schema, is_wider=shape.takes_columns)
    return VersionTables(table, ends, shape or JSON, schema, place.names)


def _versions(place: TableHistory, schema: pa.Schema, *, is_wider: bool) -> DeltaTable:
    with reported(place.table):
        if DeltaTable.is_deltatable(place.table):
            found = [column.name for column in DeltaTable(place.table).schema().fields]
            check_spans(found, place.names, place.table)
    return made(place.table, schema, is_wider=is_wider)


def _schema(shape: Shape, names: VersionNames) -> pa.Schema:
    row = [column for column in shape.schema if column.name != COLUMN]
    spans = [pa.field(name, kind) for name, kind in SPAN_TYPES[names].items()]
    return pa.schema([*row, *spans, pa.field(COLUMN, VERSION_METADATA)])


def check_versions(target: str, place: TableHistory) -> None:
    """Check that versions of a table are kept from its first row on; nothing is made.

    The change log of a run is its own alone, so that versions of earlier runs are not in it.

    Raises:
        HistoryMissingError: Its versions are kept elsewhere.
        OutputError: The table has rows of earlier runs, and no versions of them.
    """
    tombstones = there(beside(target, SUFFIX), TOMBSTONES)
    if tombstones is not None:
        check_history(target, tombstones, place)
    ends = there(place.ends, ENDS)
    if (ends is None or keys_of(ends) is None) and _has_rows(target):
        raise OutputError(
            f"{target}: it has rows of earlier runs, whose versions {place.table} lacks. Give the "
            "run another target and checkpoint, and all messages again; or let "
            "changewire.spark.apply_changes make the versions, by its change log"
        )


def keep_versions(place: TableHistory, shape: Shape | None) -> None:
    """Make the tables of versions of a table without rows, and remember that they lack nothing.

    Raises:
        OutputError: They are there, and have other columns, or are not for delta-rs to write.
        ConflictError: Other writers did not let it be done.
    """

    def make() -> None:
        ends = version_tables(place, shape).ends
        if keys_of(ends) is None:
            set_property(ends, KEYS, property_text([*(() if shape is None else shape.keys)]))

    retried(place.table, make)


def _has_rows(target: str) -> bool:
    """Whether a table has rows or tombstones."""
    for path in (target, beside(target, SUFFIX)):
        with reported(path):
            if DeltaTable.is_deltatable(path) and DeltaTable(path).count():
                return True
    return False
