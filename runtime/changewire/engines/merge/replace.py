"""Rows of a table that are all replaced in one commit, with its columns if they change."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import write_deltalake

from changewire.engines.applied import KEYS, deletes_in, property_text
from changewire.engines.changelog.shapes import Shape
from changewire.engines.declared import MEDIA_TYPE
from changewire.engines.errors import OutputError
from changewire.engines.merge import delta
from changewire.engines.merge.constraints import arrow_columns
from changewire.engines.merge.plan import shape_of
from changewire.engines.merge.table import LocalTable, schema_of
from changewire.engines.merge.verify import key_texts, rows_in
from changewire.engines.settings import Settings
from changewire.engines.typed.own import row_properties
from changewire.engines.typed.readings import TYPED_BY
from changewire.engines.typed.types import without_metadata
from changewire.tables.row_state import COLUMN

_OF_ROWS: Final = (MEDIA_TYPE.encode(), TYPED_BY.encode())
"""Metadata of a column that says how values of rows become its own."""


def others_of(table: LocalTable) -> list[str]:
    """Return the columns of a table that nothing in its log names."""
    own = {*shape_of(table).schema.names, COLUMN}
    return [name for name in table.names if name not in own]


def with_others(rows: pa.Table, table: LocalTable, shape: Shape, changes: pa.Table) -> pa.Table:
    """Return rows with all columns that a table has afterwards, in their order.

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
        found = (numbers.get(named.get(key, key)) for key in key_texts(rows, shape))
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


def set_row_properties(name: str, shape: Shape, settings: Settings) -> None:
    """Let a table say how it has its rows: delta-rs replaces rows without their properties."""
    table = delta.opened(name)
    if table is None:
        raise OutputError(f"{name}: it was dropped meanwhile")
    columns = shape.schema if shape.is_typed else None
    found = {**settings.properties, KEYS: property_text([*shape.keys])}
    found |= deletes_in(table.metadata().configuration, settings.deletes)
    found |= row_properties(shape.how, columns, shape.schema.names)
    with delta.reported(name):
        table.alter.set_table_properties(found, raise_if_not_exists=False)
