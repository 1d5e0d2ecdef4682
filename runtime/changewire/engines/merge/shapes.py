"""How a table has its rows: as JSON text, or as columns of a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.json_rows import COMMENTS, KEY, ROW, packed, unpacked
from changewire.engines.merge.mutations import NUMBER
from changewire.engines.typed.fitted import (
    TypedColumns,
    built,
    fitted_texts,
    key_cells,
    row_cells,
)
from changewire.engines.typed.types import StructJson, columns_of, without_metadata
from changewire.tables.keys import key_text
from changewire.tables.routing import Refusal
from changewire.tables.row_state import COLUMN, ORDER
from changewire_messages.tables.arrow import ROW_STATE

NAMED: Final = "named"
"""Column of mutations: the columns of the table's key, as a struct."""

CONTENT: Final = "content"
"""Column of mutations: the row, as its shape has it; NULL for a delete."""

STATE: Final = pa.field(COLUMN, ROW_STATE, metadata={"comment": COMMENTS[COLUMN]})


class Fitted(NamedTuple):
    """Mutations with the columns `NAMED` and `CONTENT`.

    Attributes:
        mutations: Those that fit the table.
        failures: Why changes do not, by their numbers.
        rounded: How many numbers were rounded.
    """

    mutations: pa.Table
    failures: dict[int, Refusal]
    rounded: int = 0


class JsonShape:
    """Rows of JSON text: the columns ``key`` and ``row``.

    Attributes:
        keys: Names of the key's columns.
        schema: Columns of the table.
        is_typed: Whether rows are columns of a type.
    """

    keys: tuple[str, ...] = (KEY,)
    schema = pa.schema(
        [*(pa.field(n, pa.string(), metadata={"comment": COMMENTS[n]}) for n in (KEY, ROW)), STATE]
    )
    is_typed = False

    def fitted(self, found: pa.Table) -> Fitted:
        """Return mutations as they are."""
        keys = found["key"].combine_chunks()
        named = pa.StructArray.from_arrays([keys], [KEY])
        both = found.append_column(NAMED, named).append_column(CONTENT, found["after"])
        return Fitted(both, {})

    def key_text(self, row: Mapping[str, Any]) -> str:
        """Return the text of the key of a row of the table."""
        return str(row[KEY])

    def stored(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a row of the table."""
        return {} if row[ROW] is None else unpacked(row[ROW])

    def values(self, content: str) -> dict[str, Any]:
        """Return the columns of a row, each as the JSON text that it was; None for null."""
        return unpacked(content)

    def row(self, key: str, values: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a row of the table but for the columns of its key; of a deleted one by None."""
        return {ROW: None if values is None else packed(key, values)}

    def columns(self, found: pa.Table) -> dict[str, Any]:
        """Return columns of the table, but that of states, of mutations."""
        pairs = zip(found["key"].to_pylist(), found[CONTENT].to_pylist(), strict=True)
        rows = [None if text is None else packed(key, unpacked(text)) for key, text in pairs]
        return {KEY: found["key"], ROW: pa.array(rows, pa.string())}


class TypedShape:
    """Rows that are columns of a type; columns of the key that it lacks are text.

    It has the attributes and methods of `JsonShape`.
    """

    is_typed = True

    def __init__(self, columns: StructJson, keys: Sequence[str]) -> None:
        """Remember the columns of rows, and which of them are the key.

        Raises:
            ValueError: A row has no column of such a type.
        """
        self.keys = tuple(keys)
        self._columns = TypedColumns(columns_of(columns), keys)
        self._row = self._columns.row
        self.schema = pa.schema([*self._columns.key_only, *self._row, STATE])

    def fitted(self, found: pa.Table) -> Fitted:
        """Return mutations with the columns of the table, and keys whose texts are made of them."""
        of_key, of_row = key_cells(self._columns.key), row_cells(self._row)
        texts = zip(found["key"].to_pylist(), found["after"].to_pylist(), strict=True)
        each = [fitted_texts(key, after, of_key, of_row) for key, after in texts]
        failures = [one.failure for one in each]
        kinds = (pa.struct([*without_metadata(one)]) for one in (self._columns.key, self._row))
        values = ([one.named for one in each], [one.content for one in each])
        named, content = (
            built(column, kind, failures) for column, kind in zip(values, kinds, strict=True)
        )
        keys = [None if row is None else self.key_text(row) for row in _dictionaries(named)]
        columns = {name: found[name] for name in found.column_names}
        columns |= {"key": pa.array(keys, pa.string()), NAMED: named, CONTENT: content}
        good = pa.array([why is None for why in failures], pa.bool_())
        numbers = zip(found[NUMBER].to_pylist(), failures, strict=True)
        why = {number: why for number, why in numbers if why is not None and number is not None}
        rounded = sum(one.rounded for one in each)
        return Fitted(pa.table(columns).filter(good), why, rounded)

    def key_text(self, row: Mapping[str, Any]) -> str:
        """Return the text of the key of a row of the table."""
        return key_text({name: row[name] for name in self.keys})

    def stored(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a row of the table that are not NULL."""
        return {name: row[name] for name in self._row.names if row[name] is not None}

    def values(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that are not NULL."""
        return {name: value for name, value in content.items() if value is not None}

    def row(self, key: str, values: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a row of the table but for the columns of its key; of a deleted one by None."""
        del key
        return {name: value for name, value in (values or {}).items() if name not in self.keys}

    def columns(self, found: pa.Table) -> dict[str, Any]:
        """Return columns of the table, but that of states, of mutations."""
        of_row = {name: pc.struct_field(found[CONTENT], name) for name in self._row.names}
        return of_row | {name: pc.struct_field(found[NAMED], name) for name in self.keys}


Shape: TypeAlias = JsonShape | TypedShape


def rows_of(found: pa.Table, shape: Shape, decided: str) -> pa.Table:
    """Return easy mutations as rows of a table, with a column that says that they are not decided.

    Args:
        found: The newest mutation of each key.
        shape: How the table has its rows.
        decided: Name of that column.
    """
    size = len(found)
    columns = {
        **{name: found[name].combine_chunks() for name in ORDER},
        "deleted": pc.equal(found["kind"], "delete").combine_chunks(),
        "columns": pa.nulls(size, pa.string()),
    }
    state = pa.StructArray.from_arrays(
        [columns[field.name] for field in ROW_STATE], fields=[*ROW_STATE]
    )
    every = {**shape.columns(found), COLUMN: state, decided: pa.array([False] * size, pa.bool_())}
    schema = source_schema(shape, decided)
    return pa.table({name: every[name] for name in schema.names}, schema)


def source_schema(shape: Shape, decided: str) -> pa.Schema:
    """Return the columns of what is merged into a table."""
    return without_metadata(shape.schema).append(pa.field(decided, pa.bool_()))


def _dictionaries(column: pa.Array) -> list[Any]:
    found: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    return found
