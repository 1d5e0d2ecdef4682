"""A table of a log: made, changed, and merged into by one MERGE of delta-rs a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable, Schema
from deltalake.table import TableMerger

from changewire.engines.adopted import check_has_key
from changewire.engines.applied import (
    columns_in,
    deletes_in,
    has_text_rows,
    keeps_deleted,
    keys_in,
    made_with,
    owned_by,
    owner_in,
)
from changewire.engines.changelog.shapes import Shape
from changewire.engines.errors import OutputError, OwnerError
from changewire.engines.json_rows import COMMENTS
from changewire.engines.merge import delta
from changewire.engines.merge.constraints import (
    Constraint,
    arrow_columns,
    check_adopted,
    check_writable,
    constraints_of,
    padded,
    violated,
)
from changewire.engines.merge.int96 import check_times
from changewire.engines.partitions import Layout, layout_by
from changewire.engines.settings import Deletes, Settings
from changewire.engines.typed.own import RowOptions, row_properties, rows_in
from changewire.engines.typed.types import StructJson, struct_json
from changewire.tables.order import Order
from changewire.tables.row_state import COLUMN, ORDER, order_fields
from changewire_messages.change import Source
from changewire_messages.tables.arrow import ROW_STATE

STATE: Final = pa.field(COLUMN, ROW_STATE, metadata={"comment": COMMENTS[COLUMN]})

_NOT_OWN: Final = {
    COLUMN: "; it was not made by changewire, which takes it over by changewire.delta.adopt_table"
}
_OLD: Final = {COLUMN: "; an earlier version made it, and changewire.delta.rebuild mends it"}
_COUNTS: Final = ("inserted", "updated", "deleted")
_ROWS: Final = "rows"
_HELD: Final = "held"
"""What a MERGE calls the rows that are merged, and the table."""


class ConstraintError(Exception):
    """A constraint of a table may forbid rows; `cause` is the error if none of them does."""

    def __init__(self, cause: Exception) -> None:
        """Keep the cause."""
        super().__init__(str(cause))
        self.cause = cause


class LocalTable:
    """A table; `keys` are the columns of its key, `named` those of `TableThere`, or None."""

    def __init__(self, table: DeltaTable, name: str, log: str) -> None:
        """Read the properties of the table; `log` is the id of the log."""
        properties = table.metadata().configuration
        self.table = table
        self.keys: tuple[str, ...] | None = keys_in(properties)
        self.named: frozenset[str] | None = columns_in(properties)
        self.owner: str | None = owner_in(properties)
        self.is_owned: bool = self.owner == log
        self.deletes: Deletes | None = made_with(properties, is_owned=self.is_owned)
        self.how: RowOptions = rows_in(properties)
        self.has_text: bool = has_text_rows(self.names, properties)
        self.name: str = name
        self.layout: Layout = layout_by(table.metadata().partition_columns)

    def check_state(self) -> None:
        """Check that the table has the state of each row."""
        advice = _OLD if COLUMN in self.names else _NOT_OWN
        delta.check_columns(self.name, self.table.schema(), pa.schema([STATE]), advice)

    def columns(self) -> StructJson:
        """Return its columns but that of states."""
        fields = delta.columns_of(self.table.schema())["fields"]
        return struct_json([field for field in fields if field["name"] != COLUMN])

    def keeps(self, deletes: Deletes | None) -> bool:
        """Whether deleted rows stay in the table, by an option or what the last run said."""
        return keeps_deleted(self.table.metadata().configuration, deletes)

    def check(self, shape: Shape, *, keeps_deleted: bool) -> None:
        """Refuse a table that cannot be written, or that cannot be kept right and is new here."""
        check_writable(self.name, self.table, {*shape.schema.names})
        check_times(self.name, self.table)
        if not self.is_owned:
            check_adopted(self.name, self.table, shape.keys, keeps_deleted=keeps_deleted)

    def truncate(self, floor: Order) -> int:
        """Delete the rows that are older than a truncate; return how many."""
        with delta.reported(self.name):
            done = self.table.delete(_is_older(floor), commit_properties=delta.NEXT_VERSION)
        return int(done["num_deleted_rows"])

    def rows(
        self, keys: pa.Table | None, *, are_patched: bool = False
    ) -> Iterator[Mapping[str, Any]]:
        """Yield rows as dictionaries: those with some values of keys, those that were patched."""
        where, files = ds.scalar(value=True), None
        if keys is not None:
            files = delta.between(keys, keys.column_names)
            for name in keys.column_names:
                where &= ds.field(name).isin(pc.unique(keys[name]))
        near = ds.field(COLUMN, "columns").is_valid() if are_patched else None
        data = delta.dataset_of(self.name, self.table, files)
        for part in delta.tables_in(self.name, data, where, near=near):
            yield from part.to_pylist(maps_as_pydicts="strict")

    def merge(self, rows: pa.Table, shape: Shape, *, keeps_deleted: bool) -> Counter[str]:
        """Merge rows, one for each key; return how many were inserted, updated and deleted.

        Rows replace those of the table if they are newer, or if their last column says so. If a
        constraint may forbid some, nothing is merged, and a `ConstraintError` is raised.
        """
        unchecked = [one for one in self._constraints if one.unchecked in rows.column_names]
        if any(violated(self.name, rows, unchecked)):
            raise ConstraintError(OutputError(f"{self.name}: a constraint forbids rows"))
        rows = padded(rows, self.table)
        is_applied = f"({_ROWS}.{delta.quoted(rows.column_names[-1])} OR {_is_newer()})"
        is_deleted = f"{_ROWS}.{delta.quoted(COLUMN)}['deleted']"
        names = {
            delta.quoted(name): f"{_ROWS}.{delta.quoted(name)}" for name in schema_of(shape).names
        }
        merger = self.table.merge(
            rows,
            " AND ".join(_is_same(name, rows) for name in shape.keys),
            source_alias=_ROWS,
            target_alias=_HELD,
            streamed_exec=False,
            commit_properties=delta.NEXT_VERSION,
        )
        emptied = dict.fromkeys(map(delta.quoted, self.names), "NULL") | names
        if not keeps_deleted:
            merger = merger.when_matched_delete(f"{is_applied} AND {is_deleted}")
        elif len(emptied) > len(names):
            # A deleted row has NULL also in columns that changes do not write.
            merger = merger.when_matched_update(emptied, f"{is_applied} AND {is_deleted}")
        merger = merger.when_matched_update(names, is_applied)
        merger = merger.when_not_matched_insert(
            names, None if keeps_deleted else f"NOT {is_deleted}"
        )
        done = self._executed(merger)
        return +Counter({name: int(done[f"num_target_rows_{name}"]) for name in _COUNTS})

    def _executed(self, merger: TableMerger) -> Mapping[str, Any]:
        try:
            with delta.reported(self.name):
                return merger.execute()
        except delta.UnwritableError:
            raise
        except (OutputError, ValueError) as error:
            # A constraint that divides by zero is a ValueError.
            if not self._constraints:
                raise
            raise ConstraintError(error) from error

    def suspects(self, rows: pa.Table, shape: Shape, *, keeps_deleted: bool) -> set[str]:
        """Return the texts of the keys of rows to merge that a constraint may forbid."""
        if not keeps_deleted:
            rows = rows.filter(pc.invert(pc.struct_field(rows[COLUMN], "deleted")))
        if {*self._columns.names} <= {*rows.column_names}:
            names = violated(self.name, rows, self._constraints)
            rows = rows.filter(pa.array([name is not None for name in names], pa.bool_()))
        return {shape.key_of(row) for row in rows.select([*shape.keys]).to_pylist()}

    def violated(self, rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        """Return the name of the first constraint that each row does not satisfy, or None."""
        found = pa.Table.from_pylist([*rows], self._columns)
        return violated(self.name, found, self._constraints)

    @cached_property
    def _constraints(self) -> list[Constraint]:
        return constraints_of(self.table)

    @property
    def names(self) -> list[str]:
        """The names of all its columns."""
        return [field.name for field in self.table.schema().fields]

    @cached_property
    def _columns(self) -> pa.Schema:
        return arrow_columns(self.table)


def there(name: str, log: str, *, adopts: bool) -> LocalTable | None:
    """Return a table; None if it does not exist. It must not belong to another log or query."""
    table = delta.opened(name)
    if table is None:
        return None
    found = LocalTable(table, name, log)
    found.check_state()
    check_has_key(name, found.keys, found.names)
    if not (adopts or found.owner is None or found.is_owned):
        raise OwnerError(
            f"{name} belongs to the query or log {found.owner}, so that two do not undo "
            "each other's changes. Choose another target, or stop what feeds it and take it "
            "over by changewire.delta.adopt_table"
        )
    return found


def made(
    name: str, shape: Shape, log: str, source: Source | None, settings: Settings
) -> LocalTable:
    """Return a table, made if it does not exist, with all columns that its shape has.

    It remembers the source, if there is one.
    """
    schema = schema_of(shape)
    owned = owned_by(log, shape.keys, source)
    if shape.is_typed:
        owned |= row_properties(shape.how, shape.schema, shape.schema.names)
    with delta.reported(name):
        if not DeltaTable.is_deltatable(name, delta.STORE_OPTIONS):
            owned |= deletes_in({}, settings.deletes)
            DeltaTable.create(
                name,
                schema,
                mode="ignore",
                partition_by=settings.laid_out_by,
                configuration={**settings.properties, **owned},
                storage_options=delta.STORE_OPTIONS,
                raise_if_key_not_exists=False,
            )
    table = delta.opened(name)
    if table is None:
        raise OutputError(f"{name}: it was dropped meanwhile")
    found = LocalTable(table, name, log)
    names = {field.name for field in table.schema().fields}
    lacking = [one for one in Schema.from_arrow(schema).fields if one.name not in names]
    if shape.is_typed and lacking:
        with delta.reported(name):
            table.alter.add_columns(lacking)
    delta.check_columns(name, table.schema(), schema)
    properties = table.metadata().configuration
    owned |= {**settings.properties, **deletes_in(properties, settings.deletes)}
    if not owned.items() <= properties.items():
        with delta.reported(name):
            table.alter.set_table_properties(owned, raise_if_not_exists=False)
    return found


def schema_of(shape: Shape) -> pa.Schema:
    """Return the columns of a table."""
    return shape.schema.append(STATE)


def _is_same(name: str, rows: pa.Table) -> str:
    """Return the condition that a row has the key of another.

    NULL is compared only if a row has it, because a join by equality takes less time.
    """
    compared = "=" if rows[name].null_count == 0 else "IS NOT DISTINCT FROM"
    return f"({_HELD}.{delta.quoted(name)} {compared} {_ROWS}.{delta.quoted(name)})"


def _is_newer() -> str:
    """Return the condition that a row to merge is newer than the row of the table.

    NULL instead of the first number of the latter is older than any.
    """
    column = delta.quoted(COLUMN)
    pairs = {name: (f"{_ROWS}.{column}['{name}']", f"{_HELD}.{column}['{name}']") for name in ORDER}
    return f"({pairs['major'][1]} IS NULL OR {_after([*pairs.values()])})"


def _is_older(floor: Order) -> str:
    """Return the condition that a row is older than a truncate, which has a sequence; never NULL.

    Text compares by its bytes, which in UTF-8 is the order of its characters, as in Python.
    """
    column = delta.quoted(COLUMN)
    pairs = [(delta.literal(v), f"{column}['{name}']") for name, v in order_fields(floor).items()]
    return f"({pairs[0][1]} IS NULL OR COALESCE({_after(pairs)}, false))"


def _after(pairs: Sequence[tuple[str, str]]) -> str:
    """Return the condition that the first of each pair are after the second, left to right."""
    condition = "false"
    for one, other in reversed(pairs):
        condition = f"({one} > {other} OR ({one} = {other} AND {condition}))"
    return condition
