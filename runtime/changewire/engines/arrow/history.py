"""Every version of the rows of a table, as an Arrow table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

import pyarrow as pa

from changewire.engines.arrow.messages import ArrowStream
from changewire.engines.changelog.folders import Folder
from changewire.engines.changelog.logged import (
    LOGGED,
    LoggedChange,
    logged,
    of_table,
    table_changes,
)
from changewire.engines.changelog.typed_versions import typed_version_table
from changewire.engines.changelog.versions import version_table
from changewire.engines.typed.rows import typed_columns
from changewire.engines.typed.schemas import RowsAs, options_of_log
from changewire.tables.version_rows import VersionNames, check_names

ChangeLog: TypeAlias = str | os.PathLike[str] | ArrowStream
"""A change log: the folder of a Parquet or Delta table, or a table of any library that speaks
Arrow's PyCapsule interface."""


def history(
    changes: ChangeLog,
    *,
    table: str,
    controls: ChangeLog | None = None,
    rows: RowsAs = "json",
    keys: Sequence[str] | None = None,
    format: str | None = None,
    families: Sequence[str] | None = None,
    names: VersionNames = "plain",
) -> pa.Table:
    """Return every version of the rows of a table, by the rules of docs/tables.md.

    A version is what a row was from one change to the next one that made it another. Which change
    is newer its sequence says, so a late change has its place between the versions, and what comes
    twice changes nothing. Memory holds all changes of the table.

    Args:
        changes: The change log: what `decode` returns as changes, or the folder of a table of them.
        table: The table, as ``database.table`` in the messages, or ``database.schema.table``.
        controls: The control events beside the log: truncates among them end versions. None:
            truncates change nothing, as in tables without ``apply_as_truncates``.
        rows: ``json``: columns ``key`` and ``row`` of JSON text. Otherwise columns of a type, as
            `decode` takes them, but for ``embedded``. Columns that the type lacks are left out, and
            a change of these alone begins no version.
        keys: Columns of the key, for columns of a type; by default those of any change.
        format: Public name of the format of the messages, if `rows` is a schema that stands in
            them; the log does not say it.
        families: Column families of an HBase table, as in `decode`, likewise.
        names: ``plain``: columns ``valid_from`` and ``valid_to``, the times of the changes that
            began and ended the version, ``is_current`` and ``op``. ``auto_cdc``: ``__START_AT`` and
            ``__END_AT``, the sequences of these changes.

    Returns:
        The columns of rows, those of `names`, and ``_changewire``, with the place of the change
        that began the version. Versions of a row are together, oldest first.

    Raises:
        ValueError: There are no such names, `rows` is something else, or it is the schema of a
            message and `format` is not given.
        OutputError: It is no change log, rows have columns that versions have too, or a change does
            not fit the columns.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed; or `rows` is a
            JSON Schema, and the extra ``codegen`` is not installed.
    """
    check_names(names)
    decode_options = options_of_log(format, keys, families)
    is_json = isinstance(rows, str) and rows == "json"
    row = None if is_json else typed_columns(rows, decode_options)
    log = _of_table(changes, table)
    truncates = () if controls is None else _of_table(controls, table)
    if row is None:
        return version_table(table_changes(log, truncates), names)
    return typed_version_table(log, truncates, row, keys, names)


def _of_table(log: ChangeLog, table: str) -> Iterator[LoggedChange]:
    return chain.from_iterable(logged(of_table(batch, table)) for batch in _batches(log))


def _batches(log: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(log, (str, os.PathLike)):
        return Folder(os.fspath(log)).batches(LOGGED.names)
    if isinstance(log, ArrowStream):
        return iter(pa.RecordBatchReader.from_stream(log))
    raise TypeError(f"expected a folder or a table, not {type(log).__name__}")
