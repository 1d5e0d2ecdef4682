"""Tables rebuilt from their log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import write_deltalake

from changewire.engines.changelog.shapes import Shape
from changewire.engines.errors import OutputError
from changewire.engines.merge import delta
from changewire.engines.merge.by_log import LogContent, content_of, table_there
from changewire.engines.merge.constraints import arrow_columns, constraints_of, padded, violated
from changewire.engines.merge.log import log_there
from changewire.engines.merge.options import local_options
from changewire.engines.merge.plan import shape_of
from changewire.engines.merge.table import LocalTable
from changewire.engines.merge.verify import key_texts, rows_in
from changewire.engines.options import TableOptions
from changewire.engines.retries import retried
from changewire.engines.settings import Deletes
from changewire.tables.names import Target
from changewire.tables.row_state import COLUMN


def rebuild(
    log: str,
    *,
    target: str,
    tables: Iterable[str] | None = None,
    where: str | None = None,
    default_table: str | None = None,
    apply_truncates: bool = False,
    deletes: Deletes | None = None,
    one_table: bool = False,
    only_tables: Sequence[str] | None = None,
    except_tables: Sequence[str] | None = None,
) -> list[str]:
    """Rebuild tables from their log: each gets the rows that the log says, in one commit.

    It repairs a table that something else changed. If a source loaded its rows again, because a
    statement changed them without messages, `where` makes the tables of what came since. The rows
    of a table, and the changes of it that the log has, must fit into memory.

    Args:
        log: Path of the log (it has a slash).
        target: Path of the tables, as for `apply_changes`.
        tables: Names of sources such as ``shop.orders``, whatever fields the target has, or of
            these fields alone; None for all tables that the log has.
        where: Condition in SQL on rows of the log, such as ``"timestamp >= '2026-07-01'"``.
        default_table: Table of writes that name none.
        apply_truncates: Whether truncates are applied.
        deletes: ``flag`` if the tables keep deleted rows, ``remove`` if not; by default what the
            last run said, which tables remember.
        one_table: As for `apply_changes`.
        only_tables: As for `apply_changes`.
        except_tables: As for `apply_changes`.

    Returns:
        Paths of the tables that were rebuilt.

    Raises:
        ValueError: An argument is not valid, or delta-rs does not take a path.
        OutputError: The log does not exist, has no table of a name, or `where` is not a condition
            on it; or a table does not exist: `apply_changes` makes tables. Or its constraints do
            not allow rows that the log says, or delta-rs does not write it.
        ConflictError: Another writer changed a table again and again.
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
        return there.selected(columns, kinds, where or "true")

    content = content_of(read, how.routing, with_truncates=apply_truncates)
    chosen = content.known.chosen(tables)
    for one in chosen:
        retried(one.name, partial(_rebuilt, one, content, there.id, deletes))
    return [one.name for one in chosen]


def _rebuilt(target: Target, content: LogContent, log: str, deletes: Deletes | None) -> None:
    """Give a table the rows that the log says; columns that nothing names stay as they are."""
    table = table_there(target.name, log)
    if table is None:
        raise OutputError(f"{target.name}: no table to rebuild; apply_changes makes tables")
    shape = shape_of(table)
    keeps_deleted = table.keeps(deletes)
    table.check(shape, keeps_deleted=keeps_deleted)
    rows = content.rows_of(target, shape)
    if not keeps_deleted:
        rows = rows.filter(pc.invert(pc.struct_field(rows[COLUMN], "deleted")))
    rows = padded(_with_others(rows, target.name, table, shape), table.table)
    names = violated(target.name, rows, constraints_of(table.table))
    for name, number in Counter(filter(None, names)).most_common(1):
        text = f"{number} rows that the log says do not satisfy the constraint {name}"
        raise OutputError(f"{target.name}: {text}")
    with delta.reported(target.name):
        write_deltalake(table.table, rows, mode="overwrite", commit_properties=delta.NEXT_VERSION)


def _with_others(rows: pa.Table, name: str, table: LocalTable, shape: Shape) -> pa.Table:
    """Return rows with all columns of a table, those of others as the table has them."""
    schema = arrow_columns(table.table)
    others = [column for column in schema.names if column not in rows.column_names]
    if others:
        there = rows_in(name, table, [*shape.keys, *others])
        numbers = {key: number for number, key in enumerate(key_texts(there, shape))}
        places = pa.array(map(numbers.get, key_texts(rows, shape)), pa.int64())
        for column in others:
            rows = rows.append_column(column, there[column].take(places))
    return rows.select(schema.names).cast(schema)
