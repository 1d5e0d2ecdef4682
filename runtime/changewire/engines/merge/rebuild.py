"""Tables rebuilt from their log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import write_deltalake

from changewire.engines.adopted import check_has_key
from changewire.engines.applied import KEYS, deletes_in, property_text
from changewire.engines.changelog.shapes import Shape
from changewire.engines.declared import MEDIA_TYPE
from changewire.engines.errors import OutputError
from changewire.engines.merge import delta
from changewire.engines.merge.by_log import LogContent, content_of, table_there
from changewire.engines.merge.constraints import (
    Constraint,
    arrow_columns,
    is_miswritten,
    padded,
    rules_after,
    violated,
)
from changewire.engines.merge.facts import facts_of
from changewire.engines.merge.log import log_there
from changewire.engines.merge.options import LocalOptions, local_options
from changewire.engines.merge.plan import DeltaRsRules, shape_of, sources_of
from changewire.engines.merge.table import LocalTable, schema_of
from changewire.engines.merge.verify import key_texts, rows_in
from changewire.engines.options import Numbers, TableOptions
from changewire.engines.retries import retried
from changewire.engines.settings import Deletes, Misfits, Settings, TableSettings
from changewire.engines.typed.options import warn_unmatched
from changewire.engines.typed.own import row_properties
from changewire.engines.typed.readings import TYPED_BY
from changewire.engines.typed.rebuilt import (
    misfit_error,
    rebuilt_shape,
    rows_asked,
    settings_asked,
)
from changewire.engines.typed.types import struct_json, type_name, without_metadata
from changewire.tables.names import Target
from changewire.tables.row_state import COLUMN

_OF_ROWS: Final = (MEDIA_TYPE.encode(), TYPED_BY.encode())
"""Metadata of a column that says how values of rows become its own."""


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
    row_schema: Any = None,
    misfits: Misfits | None = None,
    numbers: Numbers | None = None,
    settings: Mapping[str, TableSettings] | None = None,
) -> list[str]:
    """Rebuild tables from their log: each gets the rows that the log says, in one commit.

    It repairs a table that something else changed. If a source loaded its rows again, because a
    statement changed them without messages, `where` makes the tables of what came since. With
    `row_schema` tables get other columns: those that it says by all these changes, also by the ones
    that a table refused. Columns that nothing in the log names stay as they are. With `settings`
    tables also get other partitions and properties. Properties that change follow in a second
    commit: delta-rs sets none when it replaces rows. If only the first was written, the next run
    says so; rebuild the table again then.

    The rows of a table, and the changes of it that the log has, must fit into memory.

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
        row_schema: How tables have their rows from now on, as for `apply_changes`. By default they
            keep their columns.
        misfits: As for `apply_changes`, with `row_schema`.
        numbers: As for `apply_changes`, with `row_schema`.
        settings: Settings of some tables, as ``tables`` of `apply_changes`, with `row_schema`: how
            tables are from now on. A rebuild does not change the columns of a key. The logger
            ``changewire.rebuild`` warns of names that no table of the log has, and of changes that
            no run has merged yet.

    Returns:
        Paths of the tables that were rebuilt.

    Raises:
        ValueError: An argument is not valid, or delta-rs does not take a path.
        OutputError: The log does not exist, has no table of a name, or `where` is not a condition
            on it; or a table does not exist: `apply_changes` makes tables. Or its constraints do
            not allow rows that the log says, changes do not fit the columns of `row_schema`, or
            delta-rs does not write it. Such a table is as it was.
        ConflictError: Another writer changed a table again and again.
    """
    asked = TableOptions(
        target,
        default_table=default_table,
        apply_truncates=apply_truncates,
        one_table=one_table,
        only_tables=only_tables,
        except_tables=except_tables,
        **rows_asked(row_schema, misfits, numbers, settings),
    )
    how = local_options(None, asked, log=log)
    there = log_there(how)

    def read(columns: Sequence[str], kinds: Collection[str]) -> Iterator[pa.Table]:
        return there.selected(columns, kinds, where or "true")

    content = content_of(read, how.routing, with_truncates=apply_truncates)
    warn_unmatched(how, content.known)
    chosen = content.known.chosen(tables)
    rebuild_one = Rebuild(content, how, there.id, deletes, has_new_columns=row_schema is not None)
    for one in chosen:
        rebuild_one(one)
    there.warn_unmerged("rebuild")
    return [one.name for one in chosen]


@dataclass(frozen=True)
class Rebuild:
    """Rebuilds tables of a log, whose id is `log`."""

    content: LogContent
    options: LocalOptions
    log: str
    deletes: Deletes | None
    has_new_columns: bool

    def __call__(self, target: Target) -> None:
        """Give a table the rows that the log says."""
        shape, settings = retried(target.name, partial(self._rebuilt, target))
        rows = shape if self.has_new_columns else None
        retried(target.name, partial(set_row_properties, target.name, rows, settings))

    def _rebuilt(self, target: Target) -> tuple[Shape, Settings]:
        table = table_there(target.name, self.log)
        if table is None:
            raise OutputError(f"{target.name}: no table to rebuild; apply_changes makes tables")
        if COLUMN not in table.names:
            table.check_state()
        changes = self.content.changes_of(target)
        names, properties = self.content.known.names(target), table.table.metadata().configuration
        settings = settings_asked(self.options, names, properties, self.deletes)
        shape = self._shape(target, table, changes, settings)
        table.check(shape, keeps_deleted=settings.keeps_deleted)
        rows = self._rows(target, shape, changes, settings)
        if not settings.keeps_deleted:
            rows = rows.filter(pc.invert(pc.struct_field(rows[COLUMN], "deleted")))
        rows = with_others(rows, table, shape, changes)
        rows = padded(rows, table.table)
        partitions = (settings.layout or table.layout).columns
        _check_rows(target, rows, rules_after(table.table, rows.schema, partitions))
        replace_rows(table, rows, partitions, has_new_columns=self.has_new_columns)
        return shape, settings

    def _shape(
        self, target: Target, table: LocalTable, changes: pa.Table, settings: Settings
    ) -> Shape:
        """Return how the table has its rows afterwards."""
        if not self.has_new_columns:
            check_has_key(target.name, table.keys, table.names)
            return shape_of(table)
        sources = sources_of(changes, facts_of(changes, with_truncates=False), self.options)
        names = {*others_of(table)}
        fields = [one for one in table.columns()["fields"] if one["name"] in names]
        keys = None if table.has_text else table.keys
        is_known = keys is not None and {*keys} <= {*table.names}
        keys = keys if is_known else None
        rules = DeltaRsRules(table.names)
        others = struct_json(fields)
        return rebuilt_shape(target, others, keys, sources, self.options, settings, rules)

    def _rows(
        self, target: Target, shape: Shape, changes: pa.Table, settings: Settings
    ) -> pa.Table:
        """Return the rows that the log says."""
        found = self.content.fitted(changes, shape)
        if self.has_new_columns and found.failures:
            first = found.failures[min(found.failures)]
            raise misfit_error(target.name, len(found.failures), first, settings)
        return self.content.rows_of(target, shape, found.mutations)


def _check_rows(target: Target, rows: pa.Table, rules: Sequence[Constraint]) -> None:
    """Check that rows satisfy the constraints of their table."""
    names = violated(target.name, rows, rules)
    for name, number in Counter(filter(None, names)).most_common(1):
        text = f"{number} rows that the log says do not satisfy the constraint {name}"
        raise OutputError(f"{target.name}: {text}")


def others_of(table: LocalTable) -> list[str]:
    """Return the columns of a table that nothing in its log names."""
    own = {*shape_of(table).schema.names, COLUMN}
    return [name for name in table.names if name not in own]


def with_others(rows: pa.Table, table: LocalTable, shape: Shape, changes: pa.Table) -> pa.Table:
    """Return rows with all columns that a table has afterwards, in their order.

    Columns of others are as the table has them, and NULL in deleted rows.

    Args:
        rows: The rows.
        table: The table as it is.
        shape: How the table has the rows afterwards.
        changes: All changes of the table: their keys name rows of now and of afterwards.
    """
    others = [name for name in others_of(table) if name not in rows.column_names]
    if others:
        before = shape_of(table)
        there = rows_in(table.name, table, [*before.keys, *others])
        numbers = {key: number for number, key in enumerate(key_texts(there, before))}
        named = _keys_before(changes, before, shape)
        deleted = pc.struct_field(rows[COLUMN], "deleted").to_pylist()
        found = (
            None if is_deleted else numbers.get(named.get(key, key))
            for key, is_deleted in zip(key_texts(rows, shape), deleted, strict=True)
        )
        places = pa.array(found, pa.int64())
        for column in others:
            rows = rows.append_column(column, there[column].take(places))
    schema = _columns_after(table, shape, others)
    return rows.select(schema.names).cast(schema)


def _keys_before(changes: pa.Table, before: Shape, shape: Shape) -> dict[str, str]:
    """Return the texts that keys have in a table as it is, by those that they have afterwards."""
    columns = [changes[name].combine_chunks().cast(pa.string()) for name in ("key", "before_key")]
    keys = pc.unique(pa.concat_arrays(columns)).drop_null()
    nothing = pa.nulls(len(keys), pa.string())
    texts = (one.fitted(keys, nothing).keys.to_pylist() for one in (shape, before))
    return dict(zip(*texts, strict=True))


def _columns_after(table: LocalTable, shape: Shape, others: list[str]) -> pa.Schema:
    """Return the columns of a table afterwards: its own order, if it has no others."""
    there: Any = pa.schema(table.table.schema().to_arrow())
    found = [_kept(one, there) for one in schema_of(shape)]
    found[-1:-1] = [there.field(name) for name in others]
    if {*there.names} == {one.name for one in found}:
        found.sort(key=lambda one: there.get_field_index(one.name))
    return pa.schema(found)


def _kept(field: pa.Field, there: pa.Schema) -> pa.Field:
    """Return a column with what the table demands of one that has its name and type."""
    place = there.get_field_index(field.name)
    if place < 0 or there.field(place).type != field.type:
        return field
    old = there.field(place)
    metadata = {n: text for n, text in (old.metadata or {}).items() if n not in _OF_ROWS}
    metadata |= field.metadata or {}
    return pa.field(field.name, field.type, old.nullable, metadata or None)


def replace_rows(
    table: LocalTable, rows: pa.Table, partitions: list[str], *, has_new_columns: bool
) -> None:
    """Replace all rows of a table, and its columns and partitions too, as its next version.

    Without new columns they are replaced if the table is one of an earlier version.
    """
    there = table.table
    for name in partitions:
        if name not in rows.column_names:
            text = f"it is partitioned by the column {name}, which row_schema does not have"
            raise OutputError(f"{table.name}: {text}")
        if is_miswritten(kind := type_name(rows.schema.field(name).type)):
            raise delta.UnwritableError(table.name, f"{kind} partition column {name}")
    is_old = without_metadata(rows.schema) != arrow_columns(there)
    with delta.reported(table.name):
        write_deltalake(
            there,
            rows,
            mode="overwrite",
            partition_by=partitions,
            schema_mode="overwrite" if is_old or has_new_columns else None,
            commit_properties=delta.NEXT_VERSION,
        )


def set_row_properties(name: str, shape: Shape | None, settings: Settings) -> None:
    """Let a table say how it has its rows: delta-rs replaces rows without their properties.

    Without a shape, it says only what becomes of deleted rows.
    """
    table = delta.opened(name)
    if table is None:
        raise OutputError(f"{name}: it was dropped meanwhile")
    properties = table.metadata().configuration
    found = deletes_in(properties, settings.deletes)
    if shape is not None:
        columns = shape.schema if shape.is_typed else None
        found |= {**settings.properties, KEYS: property_text([*shape.keys])}
        found |= row_properties(shape.how, columns, shape.schema.names)
    if found.items() <= properties.items():
        return
    with delta.reported(name):
        table.alter.set_table_properties(found, raise_if_not_exists=False)
