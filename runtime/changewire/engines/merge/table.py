"""A table of a log: made, changed, and merged into by one MERGE of delta-rs a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable, Schema

from changewire.engines.applied import KEYS, OWNER, property_text, property_value
from changewire.engines.errors import OutputError, OwnerError
from changewire.engines.json_rows import ROW
from changewire.engines.merge.delta import (
    NEXT_VERSION,
    between,
    check_columns,
    columns_of,
    dataset_of,
    literal,
    opened,
    properties_of,
    quoted,
    reported,
    tables_in,
)
from changewire.engines.merge.shapes import STATE, Shape
from changewire.engines.typed.types import StructJson, struct_json
from changewire.tables.order import Order
from changewire.tables.row_state import COLUMN, ORDER, order_fields

_ADVICE: Final = {
    COLUMN: "; it was not made by changewire",
    ROW: "; if its rows are columns of a type, the run needs `rows`",
}
_COUNTS: Final = ("inserted", "updated", "deleted")
_ROWS: Final = "rows"
_HELD: Final = "held"
"""What a MERGE calls the rows that are merged, and the table."""


class LocalTable:
    """A table.

    Attributes:
        table: The table of Delta.
        keys: Columns of its key; None if they are not known.
        is_owned: Whether it belongs to the log.
    """

    def __init__(self, table: DeltaTable, name: str, log: str) -> None:
        """Read what the table says of itself; `log` is the id of the log.

        Raises:
            OutputError: It was not made by changewire.
        """
        properties = properties_of(table)
        keys = property_value(properties.get(KEYS))
        self.table = table
        self.keys: tuple[str, ...] | None = None if keys is None else tuple(keys)
        self.owner = properties.get(OWNER)
        self.is_owned = self.owner == log
        self._name = name
        check_columns(name, table.schema(), pa.schema([STATE]), _ADVICE)

    def columns(self) -> StructJson:
        """Return its columns but that of states."""
        fields = columns_of(self.table.schema())["fields"]
        return struct_json([field for field in fields if field["name"] != COLUMN])

    def check_owner(self) -> None:
        """Check that no other log or query feeds it.

        Raises:
            OwnerError: One does.
        """
        if self.owner is not None and not self.is_owned:
            raise OwnerError(
                f"{self._name} belongs to the query or log {self.owner}, so that two do not undo "
                "each other's changes. Choose another target, or stop what feeds it and take it "
                "over by adopt=True"
            )

    def truncate(self, floor: Order) -> int:
        """Delete the rows that are older than a truncate; return how many."""
        with reported(self._name):
            done = self.table.delete(_is_older(floor), commit_properties=NEXT_VERSION)
        return int(done["num_deleted_rows"])

    def rows(self, keys: pa.Table | None, *, are_patched: bool) -> Iterator[Mapping[str, Any]]:
        """Yield rows as dictionaries.

        Args:
            keys: Columns of keys; rows with other values are left out.
            are_patched: Whether rows that were not patched are left out.
        """
        where, files = ds.field(COLUMN).is_valid(), None
        if keys is not None:
            files = between(keys, keys.column_names)
            for name in keys.column_names:
                where &= ds.field(name).isin(pc.unique(keys[name]))
        near = ds.field(COLUMN, "columns").is_valid() if are_patched else None
        for part in tables_in(dataset_of(self.table, files), where, near=near):
            yield from part.to_pylist(maps_as_pydicts="strict")

    def merge(
        self, rows: pa.Table, shape: Shape, decided: str, *, keeps_deleted: bool
    ) -> Counter[str]:
        """Merge rows, one for each key; return how many were inserted, updated and deleted.

        Args:
            rows: Columns of the table, and `decided`: those rows replace theirs; others do so if
                they are newer.
            shape: How the table has its rows.
            decided: Name of that column.
            keeps_deleted: Whether deleted rows stay, with a flag.

        Raises:
            WriteConflictError: Another writer came first.
        """
        is_applied = f"({_ROWS}.{quoted(decided)} OR {_is_newer()})"
        is_deleted = f"{_ROWS}.{quoted(COLUMN)}['deleted']"
        names = {quoted(name): f"{_ROWS}.{quoted(name)}" for name in shape.schema.names}
        merger = self.table.merge(
            rows,
            " AND ".join(_is_same(name, rows) for name in shape.keys),
            source_alias=_ROWS,
            target_alias=_HELD,
            streamed_exec=False,
            commit_properties=NEXT_VERSION,
        )
        if not keeps_deleted:
            merger = merger.when_matched_delete(f"{is_applied} AND {is_deleted}")
        merger = merger.when_matched_update(names, is_applied)
        merger = merger.when_not_matched_insert(
            names, None if keeps_deleted else f"NOT {is_deleted}"
        )
        with reported(self._name):
            done = merger.execute()
        return +Counter({name: int(done[f"num_target_rows_{name}"]) for name in _COUNTS})


def there(name: str, log: str, *, adopts: bool) -> LocalTable | None:
    """Return a table; None if it does not exist.

    Raises:
        OutputError: It was not made by changewire, or is not for delta-rs to read.
        OwnerError: Another log or query feeds it, and it is not adopted.
    """
    table = opened(name)
    if table is None:
        return None
    found = LocalTable(table, name, log)
    if not adopts:
        found.check_owner()
    return found


def made(name: str, shape: Shape, log: str) -> LocalTable:
    """Return a table, made if it does not exist, with all columns that its shape has.

    Raises:
        OutputError: It has other columns, or is not for delta-rs to read.
        WriteConflictError: Another writer came first.
    """
    with reported(name):
        if not DeltaTable.is_deltatable(name):
            owned = {KEYS: property_text([*shape.keys]), OWNER: log}
            DeltaTable.create(
                name,
                shape.schema,
                mode="ignore",
                configuration=owned,
                raise_if_key_not_exists=False,
            )
    table = opened(name)
    if table is None:
        raise OutputError(f"{name}: it was dropped meanwhile")
    found = LocalTable(table, name, log)
    if shape.is_typed:
        _add_columns(table, shape.schema)
    check_columns(name, table.schema(), shape.schema, _ADVICE)
    if not found.is_owned or found.keys is None:
        owned = {KEYS: property_text([*shape.keys]), OWNER: log}
        with reported(name):
            table.alter.set_table_properties(owned, raise_if_not_exists=False)
    return found


def _add_columns(table: DeltaTable, columns: pa.Schema) -> None:
    names = {field.name for field in table.schema().fields}
    lacking = [one for one in Schema.from_arrow(columns).fields if one.name not in names]
    if lacking:
        with reported(table.table_uri):
            table.alter.add_columns(lacking)


def _is_same(name: str, rows: pa.Table) -> str:
    """Return the condition that a row has the key of another.

    NULL is compared only where a row has it, because a join by equality takes less time.
    """
    compared = "=" if rows[name].null_count == 0 else "IS NOT DISTINCT FROM"
    return f"({_HELD}.{quoted(name)} {compared} {_ROWS}.{quoted(name)})"


def _is_newer() -> str:
    """Return the condition that a row to merge is newer than the row of the table.

    NULL in place of the first number of the latter is older than any.
    """
    column = quoted(COLUMN)
    pairs = {name: (f"{_ROWS}.{column}['{name}']", f"{_HELD}.{column}['{name}']") for name in ORDER}
    return f"({pairs['major'][1]} IS NULL OR {_after([*pairs.values()])})"


def _is_older(floor: Order) -> str:
    """Return the condition that a row is older than a truncate, which has a sequence; never NULL.

    Text compares by its bytes, which in UTF-8 is the order of its characters, as in Python.
    """
    column = quoted(COLUMN)
    pairs = [(literal(v), f"{column}['{name}']") for name, v in order_fields(floor).items()]
    return f"({pairs[0][1]} IS NULL OR COALESCE({_after(pairs)}, false))"


def _after(pairs: Sequence[tuple[str, str]]) -> str:
    """Return the condition that the first of each pair are after the second, left to right."""
    condition = "false"
    for one, other in reversed(pairs):
        condition = f"({one} > {other} OR ({one} = {other} AND {condition}))"
    return condition
