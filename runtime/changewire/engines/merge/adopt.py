"""Tables that something else has made, or that belong to another log, given to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import Schema

from changewire.engines.adopted import check_key_columns, check_keys_of_rows
from changewire.engines.applied import keys_in, owned_by
from changewire.engines.errors import OutputError
from changewire.engines.merge import delta
from changewire.engines.merge.constraints import check_adopted
from changewire.engines.merge.int96 import check_times
from changewire.engines.merge.plan import DeltaRsRules
from changewire.engines.merge.table import STATE
from changewire.engines.retries import retried
from changewire.tables.names import absolute, is_path


def adopt_table(target: str, *, key_columns: Sequence[str] | None = None) -> None:
    """Let the next run that applies changes to a Delta table take it over.

    A table that something else has made gets the column ``_changewire``; it is NULL in the rows
    that are there, which are older than every change. A table of another log or query no longer
    belongs to it: stop what feeds it first. The columns of the key must fit into memory.

    Args:
        target: Path of the table (it has a slash).
        key_columns: Columns of the key that changes name rows by; each row has another one. None
            for a table that changewire made.

    Raises:
        ValueError: It is not a path, or `key_columns` are missing.
        OutputError: There is no such table, it lacks a column of the key, rows have NULL in it, two
            have the same, or it has another key; it is as it was. Or delta-rs cannot change it.
        ConflictError: Another writer changed it meanwhile.
    """
    if not is_path(target):
        raise ValueError(f"delta-rs has paths, and {target!r} has no slash: it is a name")
    target = absolute(target)
    delta.check_path(target)
    retried(target, partial(_adopted, target, key_columns))


def _adopted(target: str, key_columns: Sequence[str] | None) -> None:
    table = delta.opened(target)
    if table is None:
        raise OutputError(f"{target}: there is no such table")
    columns = delta.columns_of(table.schema())
    has_state = STATE.name in {one["name"] for one in columns["fields"]}
    known = keys_in(table.metadata().configuration)
    if known is None and has_state:
        advice = {STATE.name: "; rename it, because changewire adds its own"}
        delta.check_columns(target, table.schema(), pa.schema([STATE]), advice)
    names = check_key_columns(target, key_columns, known, columns, DeltaRsRules().compares)
    check_adopted(target, table, names, keeps_deleted=False)
    check_times(target, table)
    if key_columns is not None:
        _check_rows(target, delta.dataset_of(target, table), names)
    with delta.reported(target):
        if not has_state:
            table.alter.add_columns([*Schema.from_arrow(pa.schema([STATE])).fields])
        # delta-rs cannot remove a property: an empty one counts as unset.
        table.alter.set_table_properties(owned_by("", names, None), raise_if_not_exists=False)


def _check_rows(target: str, data: Any, names: Sequence[str]) -> None:
    with delta.reported(target, pa.ArrowInvalid):
        rows: pa.Table = data.to_table(columns=[*names])
    is_null = reduce(pc.or_, (pc.is_null(rows[name]) for name in names))
    without = pc.sum(is_null.cast(pa.int64())).as_py() or 0
    counted = rows.group_by([*names], use_threads=False).aggregate([([], "count_all")])
    doubles = pc.sum(pc.greater(counted["count_all"], 1).cast(pa.int64())).as_py() or 0
    check_keys_of_rows(target, names, without=without, doubles=doubles)
