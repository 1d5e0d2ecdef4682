"""Tables compared with their log: rows that differ from the log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from changewire.engines.adopted import check_has_key
from changewire.engines.arrays import indices_of
from changewire.engines.changelog.shapes import Shape
from changewire.engines.json_rows import ROW, unpacked
from changewire.engines.log import REFUSED
from changewire.engines.merge import delta
from changewire.engines.merge.by_log import content_of, table_there
from changewire.engines.merge.constraints import trimmed
from changewire.engines.merge.log import log_there
from changewire.engines.merge.options import local_options
from changewire.engines.merge.plan import shape_of
from changewire.engines.merge.table import LocalTable, schema_of
from changewire.engines.options import TableOptions
from changewire.engines.settings import Deletes
from changewire.engines.typed.options import warn_unmatched
from changewire.tables.row_state import COLUMN, ORDER
from changewire_messages.tables.arrow import ROW_STATE

_TEXTS: Final = ("table", "fault", "key", "expected", "actual")
_SCHEMA: Final = pa.schema(
    [*(pa.field(name, pa.string()) for name in _TEXTS), *(ROW_STATE.field(name) for name in ORDER)]
)

_encode: Final = msgspec.json.Encoder(decimal_format="number").encode


class _Fault(NamedTuple):
    """A row that may differ, with its numbers among those that the log says, and of the table."""

    key: str
    fault: str
    place: int | None
    number: int | None


def verify(
    log: str,
    *,
    target: str,
    default_table: str | None = None,
    apply_truncates: bool = False,
    one_table: bool = False,
    only_tables: Sequence[str] | None = None,
    except_tables: Sequence[str] | None = None,
    deletes: Deletes | None = None,
) -> pa.Table:
    """Compare tables with the log that they were made of; each row that differs is returned.

    The log counts as far as runs merged it, and the logger ``changewire.verify`` warns if it has
    more: a rebuild may have made rows of that. A change that the target refused, or that has no
    key, is in no table: `changewire.arrow.unapplied` counts these. Rescued values are not
    compared. The rows of a table, and the changes of it that the log has, must fit into memory.

    Args:
        log: Path of the log (it has a slash).
        target: Path of the tables, as for `apply_changes`.
        default_table: Table of writes that name none.
        apply_truncates: Whether truncates were applied.
        one_table: As for `apply_changes`.
        only_tables: As for `apply_changes`.
        except_tables: As for `apply_changes`.
        deletes: ``flag`` if the tables keep deleted rows, ``remove`` if not; by default what the
            last run said, which tables remember. Deleted rows that a table should not keep are
            ``extra``.

    Returns:
        ``table``; ``fault``: the row is ``missing`` in the table, ``extra``, or ``different``;
        ``key``, and ``expected`` and ``actual`` rows, all JSON text; and the order of the change
        that the row should be from: ``major``, ``minor``, ``topic``, ``partition``, ``offset`` and
        ``element``, of a row that should be deleted those of its delete. No rows: all is right.

    Raises:
        ValueError: An argument is not valid, or delta-rs does not take a path.
        OutputError: The log does not exist, or delta-rs does not read it or a table.
    """
    asked = TableOptions(
        target,
        default_table=default_table,
        apply_truncates=apply_truncates,
        one_table=one_table,
        only_tables=only_tables,
        except_tables=except_tables,
    )
    how = local_options(None, asked, log=log)
    there = log_there(how)

    def read(columns: Sequence[str], kinds: Collection[str]) -> Iterator[pa.Table]:
        # Why a change is refused is appended after its version was merged.
        return there.selected(columns, kinds, is_merged=REFUSED not in kinds)

    content = content_of(read, how.routing, with_truncates=apply_truncates)
    warn_unmatched(how, content.known, "verify")
    there.warn_unmerged("verify")
    found: list[pa.Table] = []
    for one in content.known.tables.names.values():
        table = table_there(one.name, there.id)
        if table is not None:
            table.check_state()
            check_has_key(one.name, table.keys, table.names)
        shape = shape_of(table)
        mutations = content.fitted(content.changes_of(one), shape).mutations
        expected = content.rows_of(one, shape, mutations)
        actual = expected.slice(0, 0)
        if table is not None:
            expected = trimmed(expected, table.table)
            actual = trimmed(rows_in(one.name, table, schema_of(shape).names), table.table)
            actual = actual.select(expected.column_names).cast(expected.schema)
        if table is not None and table.keeps(deletes):
            actual = actual.filter(pc.invert(_is_deleted(actual)))
        found.append(_faults(one.name, expected, actual, shape))
    return pa.concat_tables([_SCHEMA.empty_table(), *found])


def rows_in(name: str, table: LocalTable, columns: Sequence[str]) -> pa.Table:
    """Return some columns of the rows of a table."""
    wanted = {column: ds.field(column) for column in columns}
    with delta.reported(name):
        rows: pa.Table = delta.dataset_of(name, table.table).to_table(columns=wanted)
    return rows


def key_texts(rows: pa.Table, shape: Shape) -> list[str]:
    """Return the texts of the keys of rows of a table."""
    return [shape.key_of(row) for row in rows.select([*shape.keys]).to_pylist()]


def _is_deleted(rows: pa.Table) -> Any:
    """Return which rows are deleted; rows of something else are not."""
    return pc.fill_null(pc.struct_field(rows[COLUMN], "deleted"), False)  # noqa: FBT003


def _faults(name: str, expected: pa.Table, actual: pa.Table, shape: Shape) -> pa.Table:
    """Return the rows of one table that differ, in the order of their keys."""
    said = {key: number for number, key in enumerate(key_texts(expected, shape))}
    is_live = pc.invert(_is_deleted(expected)).to_pylist()
    pairs: list[_Fault] = []
    found: list[_Fault] = []
    seen = set[str]()
    for number, key in enumerate(key_texts(actual, shape)):
        place = said.get(key)
        if place is None or not is_live[place] or key in seen:
            found.append(_Fault(key, "extra", place, number))
        else:
            pairs.append(_Fault(key, "different", place, number))
        seen.add(key)
    lacking = ((key, n) for key, n in said.items() if is_live[n] and key not in seen)
    found += [_Fault(key, "missing", number, None) for key, number in lacking]
    found += _different(pairs, expected, actual, shape)
    rows: list[dict[str, Any]] = []
    for one in sorted(found, key=lambda one: (one.key, one.fault)):
        state = {} if one.place is None else expected[COLUMN][one.place].as_py()
        place = None if one.fault == "extra" else one.place
        texts = {
            "expected": _text(expected, place, shape),
            "actual": _text(actual, one.number, shape),
        }
        order = {field: state.get(field) for field in ORDER}
        rows.append({"table": name, "fault": one.fault, "key": one.key, **texts, **order})
    return pa.Table.from_pylist(rows, _SCHEMA)


def _different(
    pairs: Sequence[_Fault], expected: pa.Table, actual: pa.Table, shape: Shape
) -> list[_Fault]:
    """Return those of pairs of rows that have other values."""
    ours = expected.take(pa.array([one.place for one in pairs], pa.int64()))
    theirs = actual.take(pa.array([one.number for one in pairs], pa.int64()))
    is_same: Any = pa.array([True] * len(pairs), pa.bool_())
    for name in shape.schema.names:
        is_same = pc.and_(is_same, _are_equal(ours[name], theirs[name]))
    suspects = indices_of(pc.invert(is_same))
    return [pairs[n] for n in suspects if _values(ours, n, shape) != _values(theirs, n, shape)]


def _are_equal(one: Any, other: Any) -> Any:
    """Return which values are equal; of types that Arrow does not compare, none."""
    try:
        equal = pc.fill_null(pc.equal(one, other), False)  # noqa: FBT003
    except pa.ArrowNotImplementedError:
        return pa.array([False] * len(one), pa.bool_())
    return pc.or_(equal, pc.and_(pc.is_null(one), pc.is_null(other)))


def _values(rows: pa.Table, number: int, shape: Shape) -> Any:
    """Return a row as it is compared: of JSON text its columns, in whatever order."""
    text = _text(rows, number, shape)
    try:
        return text if shape.is_typed or text is None else unpacked(text)
    except (ValueError, msgspec.MsgspecError):
        return text


def _text(rows: pa.Table, number: int | None, shape: Shape) -> str | None:
    """Return a row as JSON text, with the columns of its key, and without those that are NULL."""
    if number is None:
        return None
    (row,) = rows.select(shape.schema.names).slice(number, 1).to_pylist(maps_as_pydicts="strict")
    if not shape.is_typed:
        text: str | None = row[ROW]
        return text
    return _encode({name: one for name, one in row.items() if one is not None}).decode()
