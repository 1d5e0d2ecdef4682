"""Tables in folders: opened and made by delta-rs; what it misreads is refused."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError

from changewire.engines.delta.columns import TOMBSTONES
from changewire.engines.delta.shapes import JSON, Shape
from changewire.engines.errors import HistoryMissingError, OutputError
from changewire.engines.json_rows import ROW
from changewire.engines.kept import (
    HISTORY,
    KEYS,
    SUFFIX,
    TableHistory,
    history_value,
    property_text,
    property_value,
)
from changewire.engines.retries import WriteConflictError
from changewire.engines.typed.json_types import sql_name
from changewire.tables.metadata import COLUMN
from changewire.tables.names import beside, is_path

NEXT_VERSION: Final = CommitProperties(max_commit_retries=0)
"""Lets a change of a table be the version after the one that it was decided on, or none at all."""

_MAPPING: Final = "delta.columnMapping.mode"
_UNREADABLE: Final = re.compile(r"[\x00-\x1f%\\\[\]^|]")
"""Characters in a path that delta-rs 1.6 takes for something else, or that end the process."""

_SCHEME: Final = "://"
_ADVICE: Final = {
    COLUMN: "; it was not made by changewire",
    ROW: "; if its rows are columns of a type, the run needs `rows`",
}


class DeltaTables(NamedTuple):
    """A table with its tombstones, each at its newest version.

    Attributes:
        table: The table; None while its columns are not known.
        tombstones: The table of its tombstones.
        shape: How the table has its rows.
    """

    table: DeltaTable | None
    tombstones: DeltaTable
    shape: Shape

    def both(self) -> list[DeltaTable]:
        """Return the table, if there is one, and that of its tombstones."""
        return [one for one in (self.table, self.tombstones) if one is not None]


def check_path(target: str) -> None:
    """Refuse a path that delta-rs does not read as it stands.

    Raises:
        ValueError: It has such a character, in it or in the folder that it starts from.
    """
    path = target if _SCHEME in target else os.path.abspath(target)  # noqa: PTH100 - no folder yet
    found = _UNREADABLE.search(path)
    if found is not None:
        raise ValueError(
            f"delta-rs cannot have a table at {path!r}: {found[0]!r} in a path means something "
            "else to it; choose another folder"
        )


def tables_of(target: str, shape: Shape | None, history: TableHistory | None = None) -> DeltaTables:
    """Return the table of a target and that of its tombstones, made if they are not there.

    Columns that the table lacks are added. Without a shape only tombstones are made.

    Args:
        target: Folder of the table.
        shape: How it has its rows; None while that is not known.
        history: Where the run keeps the versions of its rows; None if it keeps none.

    Raises:
        OutputError: It is there, and has other columns, or is not for delta-rs to read.
        HistoryMissingError: The versions of its rows are kept, and not by this run.
        WriteConflictError: Another writer changed it meanwhile.
    """
    tombstones = made(beside(target, SUFFIX), TOMBSTONES)
    _keep_history(target, tombstones, history)
    if shape is None:
        return DeltaTables(None, tombstones, JSON)
    table = made(target, shape.schema, is_wider=shape.takes_columns)
    keys = keys_of(tombstones)
    if keys is None:
        set_property(tombstones, KEYS, property_text([*shape.keys]))
    elif keys != shape.keys:
        raise OutputError(f"{target}: its key has the columns {', '.join(keys)}{_ADVICE[ROW]}")
    return DeltaTables(table, tombstones, shape)


def _keep_history(target: str, tombstones: DeltaTable, history: TableHistory | None) -> None:
    """Keep where the versions of a table's rows are kept; see `check_history`."""
    kept = check_history(target, tombstones, history)
    if history is not None and history != kept:
        set_property(tombstones, HISTORY, history.text)


def check_history(
    target: str, tombstones: DeltaTable, history: TableHistory | None
) -> TableHistory | None:
    """Return where the versions of a table's rows are kept, which a run may write.

    Raises:
        HistoryMissingError: They are kept elsewhere, and would lack what the run does.
    """
    kept = history_value(tombstones.metadata().configuration.get(HISTORY))
    is_other = kept is not None and not (history and history[1:] == kept[1:])
    # Only Spark finds tables by names.
    if kept and is_other and (not is_path(kept.ends) or DeltaTable.is_deltatable(kept.ends)):
        raise HistoryMissingError(target, kept, history)
    return kept


def keys_of(tombstones: DeltaTable) -> tuple[str, ...] | None:
    """Return the columns of a table's key, which its tombstones keep; None if they have none."""
    found = property_value(tombstones.metadata().configuration.get(KEYS))
    return None if found is None else tuple(found)


def there(path: str, columns: pa.Schema) -> DeltaTable | None:
    """Return a table that has some columns; None if it is not there.

    Raises:
        OutputError: It lacks one of them, or is not for delta-rs to read.
    """
    with reported(path):
        return opened(path, columns) if DeltaTable.is_deltatable(path) else None


def made(path: str, columns: pa.Schema, *, is_wider: bool = False) -> DeltaTable:
    """Return a table; `is_wider` says whether it gets columns that it lacks."""
    with reported(path):
        if not DeltaTable.is_deltatable(path):
            DeltaTable.create(path, columns, mode="ignore")
        elif is_wider:
            _add_columns(DeltaTable(path), columns)
    return opened(path, columns)


def _add_columns(table: DeltaTable, columns: pa.Schema) -> None:
    names = {field.name for field in table.schema().fields}
    lacking = [f for f in Schema.from_arrow(columns).fields if f.name not in names]
    if COLUMN in names and lacking:
        table.alter.add_columns(lacking)


def opened(path: str, columns: pa.Schema) -> DeltaTable:
    """Return a table at its newest version.

    Raises:
        OutputError: It lacks a column, has one of another type, or is not for delta-rs to read.
    """
    with reported(path):
        table = DeltaTable(path)
        if table.metadata().configuration.get(_MAPPING, "none") != "none":
            # Delta-rs finds NULL in columns whose names in the files are others.
            raise OutputError(f"{path}: it is not for delta-rs to read (column mapping); use Spark")
        _check(path, table.schema(), columns)
        return table


@contextmanager
def reported(path: str) -> Generator[None, None, None]:
    """Report what delta-rs refuses as `OutputError`, and conflicts as `WriteConflictError`."""
    try:
        yield
    except CommitFailedError as error:
        raise WriteConflictError from error
    except (DeltaError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise OutputError(f"{path}: delta-rs cannot do it ({reason})") from error


def set_property(table: DeltaTable, name: str, text: str) -> None:
    """Set a property of a table.

    Raises:
        WriteConflictError: Another writer changed it meanwhile.
    """
    with reported(table.table_uri):
        table.alter.set_table_properties({name: text}, raise_if_not_exists=False)


def _check(path: str, there: Schema, needed: pa.Schema) -> None:
    found = _types(there)
    for name, kind in _types(Schema.from_arrow(needed)).items():
        if found.get(name) == kind:
            continue
        has = f"has {found[name]}" if name in found else "lacks it"
        raise OutputError(
            f"{path}: a column {name} of type {kind} is needed, and the table {has}"
            f"{_ADVICE.get(name, '')}"
        )


def _types(schema: Schema) -> dict[str, str]:
    """Return the types of columns as text, without comments and what may be NULL."""
    fields = json.loads(schema.to_json())["fields"]
    return {field["name"]: sql_name(field["type"]) for field in fields}


def is_newest(table: DeltaTable) -> bool:
    """Whether no other writer wrote a table since it was written or read here."""
    version = table.version()
    with reported(table.table_uri):
        table.update_incremental()
    return bool(table.version() == version)
