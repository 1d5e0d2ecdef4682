"""Queries on a log: rows of its tables, changes of one row, and what is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.decode_options import DecodeOptions
from changewire.changes.vendors import VendorKeywords
from changewire.engines.changelog.effects import effects_in
from changewire.engines.changelog.keys import wanted_key
from changewire.engines.changelog.logged import (
    Attempts,
    logged,
    table_log,
    table_names,
    truncates_of,
)
from changewire.engines.changelog.shapes import Shape, given_shape
from changewire.engines.changelog.source import KIND, ChangeLog, LogRows
from changewire.engines.changelog.trace import traced
from changewire.engines.changelog.versions import Newest, Truncates, Versions, by_key
from changewire.engines.layout import CHANGE, DEAD_LETTER
from changewire.engines.log import ATTEMPT, CLOSED_BY, ELEMENT_PLACE, REFUSED, TARGET, place_of
from changewire.engines.typed.schemas import RowsAs, options_of_log
from changewire.tables.chosen import chosen_tables
from changewire.tables.history import History
from changewire.tables.names import absolute
from changewire.tables.version_rows import VersionNames, check_names

if TYPE_CHECKING:
    from typing_extensions import Unpack


UNAPPLIED: Final = pa.schema(
    [("table", pa.string()), ("refused", pa.int64()), ("key_missing", pa.int64())]
)
"""Columns of `unapplied`."""


def history(
    log: ChangeLog,
    *,
    table: str,
    row_schema: RowsAs = "json",
    key_columns: Sequence[str] | None = None,
    format: str | None = None,
    apply_truncates: bool = False,
    names: VersionNames = "plain",
    **vendor: Unpack[VendorKeywords],
) -> pa.Table:
    """Return every version of the rows of a table, by the rules of docs/concepts/tables.md.

    A version is what a row was from one change to the next one that made it another. The
    sequence decides which change is newer, so a late change is inserted between versions, and a
    duplicate changes nothing. All changes of the table must fit into memory.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table,
            such as what `decode` returns.
        table: The table, as ``database.table`` in the messages, or ``database.schema.table``.
        row_schema: ``json``: columns ``key`` and ``row`` of JSON text. Otherwise columns of a type,
            as `decode` takes them, but for ``embedded``. Columns that the type lacks are left out,
            and a change of these alone begins no version.
        key_columns: Columns of the key, for columns of a type; by default those of any change.
        format: Public name of the format of the messages, if `row_schema` is a schema that is
            in them; the log does not say it.
        apply_truncates: Whether truncates end versions.
        names: ``plain``: columns ``valid_from`` and ``valid_to``, the times of the changes that
            began and ended the version, ``is_current`` and ``op``. ``auto_cdc``: ``__START_AT`` and
            ``__END_AT``, the sequences of these changes.
        **vendor: Options for the messages of one vendor, see `changewire.VendorKeywords`, for the
            schema of a message.

    Returns:
        The columns of rows, those of `names`, and ``_changewire``, with the place of the change
        that began the version. Versions of a row are together, oldest first.

    Raises:
        ValueError: `names` or `row_schema` is something else, `row_schema` is the schema of
            a message and `format` is not given, or several tables have the name ``table``.
        OutputError: It is not a log, rows have columns that versions have too, or a change does not
            fit the columns.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed; or `row_schema`
            is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    check_names(names)
    decode_options = options_of_log(format, key_columns, vendor)
    make = partial(Versions, names=names)
    return _made(
        log, table, row_schema, key_columns, decode_options, make, apply_truncates=apply_truncates
    )


def current(
    log: ChangeLog,
    *,
    table: str,
    row_schema: RowsAs = "json",
    key_columns: Sequence[str] | None = None,
    format: str | None = None,
    apply_truncates: bool = False,
    **vendor: Unpack[VendorKeywords],
) -> pa.Table:
    """Return the current rows of a table, from its log: the newest version of each.

    It is what `changewire.delta.apply_changes` leaves in the table, computed from the log alone.
    All changes of the table must fit into memory.

    Args:
        log: As for `history`, like all other arguments.
        table: The table, as ``database.table`` in the messages, or ``database.schema.table``.
        row_schema: ``json``, or columns of a type.
        key_columns: Columns of the key, for columns of a type.
        format: Public name of the format of the messages, for a schema that is in them.
        apply_truncates: Whether truncates remove rows.
        **vendor: Options for the messages of one vendor.

    Returns:
        The columns of rows, and ``_changewire``, the change that the row is from.

    Raises:
        ValueError: `row_schema` is something else, it is the schema of a message and `format` is
            not given, or several tables have the name ``table``.
        OutputError: It is not a log, or a change does not fit the columns.
        FramingError: The folder cannot be read.
        ImportError: As for `history`.
    """
    decode_options = options_of_log(format, key_columns, vendor)
    return _made(
        log, table, row_schema, key_columns, decode_options, Newest, apply_truncates=apply_truncates
    )


def _made(  # noqa: PLR0917 - how rows are given, and what is made of them
    log: ChangeLog,
    table: str,
    row_schema: RowsAs,
    key_columns: Sequence[str] | None,
    decode_options: DecodeOptions | None,
    make: Callable[[Shape, Truncates], Versions | Newest],
    *,
    apply_truncates: bool,
) -> pa.Table:
    found = table_log(LogRows(log), table)
    keys = (one["key"] for one in (*found.changes, *found.refused))
    shape = given_shape(row_schema, decode_options, key_columns, keys)
    truncates = truncates_of(found.truncates) if apply_truncates else []
    return by_key(effects_in(found.changes), make(shape, truncates))


def trace(
    log: ChangeLog,
    key: Mapping[str, Any],
    *,
    table: str | None = None,
    apply_truncates: bool = False,
) -> History:
    """Return what each change did to a row, in the order of the log, and why others did nothing.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table.
        key: Columns that name the row, with the values that the log has: ``{"id": 1004}``.
        table: The table, as ``database.table`` in the messages; None if no other has the key.
        apply_truncates: Whether truncates remove rows.

    Returns:
        A step for each change, and the row after them; no steps if the log does not have the key.

    Raises:
        ValueError: The key has no column, or several tables have it.
        OutputError: It is not a log.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    return traced(LogRows(log), wanted_key(key), table, truncates=apply_truncates)


def dead_letters(log: ChangeLog) -> pa.Table:
    """Return the dead letters of a log that were not replayed, with reasons and original bytes.

    A replay that decodes a dead letter appends a row with the same position, which closes it, and
    so does `changewire.delta.close_dead_letters`. All dead letters must fit into memory.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table.

    Returns:
        Rows of the log.

    Raises:
        OutputError: It is not a log.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    rows = LogRows(log)
    return _open(rows, _rows_of(rows, DEAD_LETTER), DEAD_LETTER)


def refused(log: ChangeLog, *, target: str | None = None) -> pa.Table:
    """Return the open refused changes of a log, with the reason of each.

    A replay that applies one appends a row with the same position, which closes it. Memory contains
    all refused changes.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table.
        target: Path or name of the tables, as for `apply_changes`: what other targets refused is
            left out. None for all targets.

    Returns:
        Rows of the log, one for each change and target that refused it; ``target`` is NULL in rows
        of earlier versions, which are of any target.

    Raises:
        OutputError: It is not a log.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    rows = LogRows(log)
    apart = (TARGET,) if target is None else ()
    return _open(rows, _refusals(rows, target), REFUSED, apart)


def unapplied(
    log: ChangeLog,
    *,
    target: str | None = None,
    only_tables: Sequence[str] | None = None,
    except_tables: Sequence[str] | None = None,
) -> pa.Table:
    """Return how many changes of each table of the source are in no table, and why.

    `verify` compares tables with the other changes of the log.

    Args:
        log: The output folder of a run, the folder of a log, or rows of a log as an Arrow table.
        target: Path or name of the tables, as for `apply_changes`: what other targets refused is
            left out. None for all targets.
        only_tables: As for `changewire.delta.apply_changes`.
        except_tables: As for `changewire.delta.apply_changes`.

    Returns:
        ``table``, as ``database.table`` in the messages; ``refused``: how many changes were
        refused, by the target or by any; ``key_missing``: how many have no key. Tables of which all
        changes are applied are left out.

    Raises:
        ValueError: The names of tables are not valid.
        OutputError: It is not a log.
        FramingError: The folder cannot be read.
        ImportError: It is a Delta table, and the extra ``delta`` is not installed.
    """
    chosen = chosen_tables(only_tables, except_tables)
    rows = LogRows(log)
    lost = _open(rows, _refusals(rows, target), REFUSED)
    refusals = table_names(lost["source"].combine_chunks())
    found = {"refused": Counter(refusals.to_pylist()), "key_missing": Counter[str]()}
    attempts: Attempts = {}
    keyless: list[tuple[Any, int, str]] = []
    for part in logged(rows, (CHANGE,), attempts):
        mine = part.filter(pc.is_null(part.column("key")))
        names = table_names(mine.column("source")).to_pylist()
        each = zip(mine.select([*ELEMENT_PLACE, ATTEMPT]).to_pylist(), names, strict=True)
        keyless += [(place_of(row), row[ATTEMPT], name) for row, name in each]
    found["key_missing"].update(
        name for place, attempt, name in keyless if attempt >= attempts.get(place, 0)
    )
    tables = sorted(filter(chosen.has, {*found["refused"], *found["key_missing"]}))
    counts = {reason: [of[name] for name in tables] for reason, of in found.items()}
    return pa.table({"table": tables, **counts}, UNAPPLIED)


def _rows_of(log: LogRows, kind: str) -> pa.Table:
    """Return the rows of a kind."""
    log.check(KIND, *ELEMENT_PLACE, ATTEMPT)
    return pa.Table.from_batches(log.batches((kind,)), log.schema)


def _refusals(log: LogRows, target: str | None) -> pa.Table:
    """Return the refusals of a target, or of all, with `TARGET`, which logs may lack."""
    rows = _rows_of(log, REFUSED)
    if TARGET not in rows.column_names:
        rows = rows.append_column(TARGET, pa.nulls(len(rows), pa.string()))
    if target is None:
        return rows
    of = rows[TARGET].cast(pa.string())
    is_own = pc.equal(of, absolute(target, is_template=True))
    return rows.filter(pc.or_kleene(pc.is_null(of), is_own))


def _open(log: LogRows, rows: pa.Table, kind: str, apart: Sequence[str] = ()) -> pa.Table:
    """Return the newest of rows of a kind at each place that no row of another kind closes.

    Rows of one attempt that differ in the columns `apart` are all returned.
    """
    newest: dict[Any, dict[Any, int]] = {}
    attempts: dict[Any, int] = {}
    for number, row in enumerate(rows.select([*ELEMENT_PLACE, ATTEMPT, *apart]).to_pylist()):
        at = place_of(row)
        if row[ATTEMPT] > attempts.get(at, -1):
            attempts[at], newest[at] = row[ATTEMPT], {}
        if row[ATTEMPT] == attempts[at]:
            newest[at].setdefault(tuple(row[name] for name in apart), number)
    closed_by = CLOSED_BY[kind]
    others = closed_by.keys() - {kind}
    for batch in log.batches(others, [KIND, *ELEMENT_PLACE, ATTEMPT]) if newest else ():
        for row in batch.to_pylist():
            at, later = place_of(row), closed_by[row[KIND]]
            if at in newest and (later is None or row[ATTEMPT] >= attempts[at] + later):
                del newest[at]
    numbers = sorted(number for one in newest.values() for number in one.values())
    return rows.take(pa.array(numbers, pa.int64()))
