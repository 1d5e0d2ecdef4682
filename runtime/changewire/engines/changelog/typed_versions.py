"""Every version of the rows of one table as columns of a type, from a change log, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from changewire.engines.changelog.logged import (
    LoggedChange,
    keyed_mutations,
    paired,
    truncates_of,
)
from changewire.engines.changelog.versions import (
    columns_fault,
    span_fields,
    tabled,
    version_columns,
)
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import unpacked
from changewire.engines.typed.mutations import FittedMutations, TypedColumns, mutation_without_key
from changewire.engines.typed.types import without_metadata
from changewire.tables.routing import Refusal
from changewire.tables.version_changes import version_changes
from changewire.tables.version_rows import VersionNames


def typed_version_table(
    changes: Iterable[LoggedChange],
    truncates: Iterable[LoggedChange],
    row: pa.Schema,
    keys: Sequence[str] | None,
    names: VersionNames,
) -> pa.Table:
    """Return the versions of all rows of a table, those of a row together, oldest first.

    Args:
        changes: Changes of the table.
        truncates: Control events; truncates among them end versions.
        row: Columns of rows, as `changewire.engines.typed.types.row_columns` returns them.
        keys: Columns of the key; None: those of any change.
        names: How the columns are named that say from when to when a version was.

    Raises:
        OutputError: A change does not fit the columns, rows have columns that versions have too, or
            no change has a key.
    """
    read = [*paired(changes)]
    columns = TypedColumns(row, keys or _keys_of(read))
    own = without_metadata([*columns.row, *columns.key_only])
    fault = columns_fault(own.names, names)
    if fault is not None:
        raise OutputError(fault)
    found = columns.fitted(keyed_mutations(read), [one.after for one in read])
    if found.misfits:
        raise _misfit(read, found.misfits)
    rows = _rows(found, read, truncates, names)
    return tabled(rows, pa.schema([*own, *span_fields(names)]))


def _keys_of(changes: Iterable[LoggedChange]) -> list[str]:
    """Return the columns of the key of the first change that has one."""
    first = next((one.change.key for one in changes if one.change.key is not None), None)
    if first is None:
        raise OutputError("no change of the table has a key; name its columns by `keys`")
    return [*first]


def _misfit(changes: Sequence[LoggedChange], misfits: Mapping[int, Refusal]) -> OutputError:
    """Return the error that names the first change that does not fit."""
    number = min(misfits)
    place = "/".join(map(str, changes[number].position[:3]))
    why = misfits[number]
    return OutputError(f"the change at {place}: {why.pointer}: {why.message}")


def _rows(
    found: FittedMutations,
    changes: Sequence[LoggedChange],
    truncates: Iterable[LoggedChange],
    names: VersionNames,
) -> Iterator[dict[str, Any]]:
    ends = [*truncates_of(truncates)]
    for key, of_key in sorted(found.mutations.items()):
        columns = unpacked(key)
        noted = (
            (mutation_without_key(columns, one.mutation), changes[one.number].note)
            for one in of_key
            if one.number is not None
        )
        for write in version_changes(noted, truncates=ends).writes:
            row = {**(write.values or {}), **found.named[key]}
            yield {**row, **version_columns(write.metadata, names)}
