"""How a table of delta-rs has its rows: as JSON text, or as columns of a type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa
from msgspec import UNSET
from msgspec.structs import replace

from changewire.engines.delta.columns import ROWS
from changewire.engines.json_rows import KEY, ROW, packed, unpacked
from changewire.engines.typed.fitted import STEP, Fitted, built, fitted_texts, key_cells, row_cells
from changewire.engines.typed.json_types import StructJson
from changewire.engines.typed.types import columns_of, without_metadata
from changewire.tables.batch import KeyedMutation, TableMutations
from changewire.tables.keys import key_text
from changewire.tables.metadata import COLUMN
from changewire.tables.mutations import DELETE, RowMutation
from changewire.tables.routing import Refusal
from changewire_messages.tables.arrow import ROW_METADATA

Row: TypeAlias = dict[str, Any]


class FittedMutations(NamedTuple):
    """What a batch does to the rows of a table, with the values that the table has.

    Attributes:
        mutations: The mutations by the texts of their keys.
        named: Columns of these keys.
        misfits: Why changes do not fit the table, by their numbers in the batch.
    """

    mutations: TableMutations
    named: dict[str, Row]
    misfits: dict[int, Refusal]


class JsonShape:
    """Rows of JSON text in the columns of `columns.ROWS`.

    Attributes:
        schema: Columns of the table.
        keys: Those that name a row.
        takes_columns: Whether a table that is there gets those that it lacks.
    """

    schema = ROWS
    keys = (KEY,)
    takes_columns = False

    def fitted(self, found: TableMutations, afters: Sequence[str | None]) -> FittedMutations:
        """Return mutations as they are: their values are JSON text."""
        del afters
        return FittedMutations(found, {key: {KEY: key} for key in found}, {})

    def key_text(self, named: Row) -> str:
        """Return the text of a key, by its columns."""
        return str(named[KEY])

    def values(self, row: Row) -> Row:
        """Return the columns of a row, by those of the table."""
        return unpacked(row[ROW])

    def row(self, key: str, values: Mapping[str, Any]) -> Row:
        """Return the columns of the table but those of the key, by the columns of a row."""
        return {ROW: packed(key, values)}


class TypedShape:
    """Rows that are columns of a type; columns of the key that it lacks are text.

    It has the attributes and methods of `JsonShape`.
    """

    takes_columns = True

    def __init__(self, columns: StructJson, keys: Sequence[str]) -> None:
        """Remember the columns of rows, and which of them are the key.

        Raises:
            ValueError: A row has no column of such a type.
        """
        self.keys = tuple(keys)
        self._row = columns_of(columns)
        fields = {field.name: field for field in self._row}
        self._key = pa.schema([fields.get(name, pa.field(name, pa.string())) for name in keys])
        lacking = [field for field in self._key if field.name not in fields]
        self.schema = pa.schema([*lacking, *self._row, pa.field(COLUMN, ROW_METADATA)])

    @cached_property
    def _types(self) -> tuple[pa.DataType, pa.DataType]:
        """Types of keys and rows."""
        return pa.struct([*without_metadata(self._key)]), pa.struct([*without_metadata(self._row)])

    def fitted(self, found: TableMutations, afters: Sequence[str | None]) -> FittedMutations:
        """Return mutations whose keys and values are those of the columns.

        Args:
            found: Mutations by the texts of keys.
            afters: Rows after changes as JSON text, by the numbers of the changes.
        """
        every = [one for of_key in found.values() for one in of_key]
        of_key, of_row = key_cells(self._key), row_cells(self._row)
        fitted = [fitted_texts(one.key, _after(one, afters), of_key, of_row) for one in every]
        failures = [one.failure for one in fitted]
        named, contents = self._held(fitted, failures)
        mutations: TableMutations = {}
        keys: dict[str, Row] = {}
        for i, (one, failure) in enumerate(zip(every, failures, strict=True)):
            if failure is None:
                key, mutation = fitted[i].key, _typed(one.mutation, contents[i])
                keys.setdefault(key, named[i])
                mutations.setdefault(key, []).append(KeyedMutation(key, mutation, one.number))
        return FittedMutations(mutations, keys, dict(_misfits(every, failures)))

    def _held(
        self, fitted: list[Fitted], failures: list[Refusal | None]
    ) -> tuple[list[Row], list[Row | None]]:
        """Return keys and rows as the table gives them back; `failures` takes what it refuses."""
        values = ([one.named for one in fitted], [one.content for one in fitted])
        arrays = [
            built(column, kind, failures, STEP)
            for column, kind in zip(values, self._types, strict=True)
        ]
        named, contents = (array.to_pylist(maps_as_pydicts="strict") for array in arrays)
        return named, contents

    def key_text(self, named: Row) -> str:
        """Return the text of a key, by its columns."""
        return key_text({name: named[name] for name in self.keys})

    def values(self, row: Row) -> Row:
        """Return the columns of a row that are not NULL, by those of the table."""
        return {name: row[name] for name in self._row.names if row[name] is not None}

    def row(self, key: str, values: Mapping[str, Any]) -> Row:
        """Return the columns of a row; those of its key are the key's."""
        del key
        return {name: value for name, value in values.items() if name not in self.keys}


Shape: TypeAlias = JsonShape | TypedShape
"""How a table has its rows."""

JSON: Final = JsonShape()


def _after(one: KeyedMutation, afters: Sequence[str | None]) -> str | None:
    is_delete = one.number is None or one.mutation.kind == DELETE
    return None if is_delete else afters[one.number or 0]


def _typed(mutation: RowMutation, content: Row | None) -> RowMutation:
    """Return a mutation with the columns that a row has, as `effects.mutation_of` makes it."""
    values = {name: value for name, value in (content or {}).items() if value is not None}
    if mutation.kind == "patch":
        values = {name: values.get(name, UNSET) for name in mutation.values}
    return replace(mutation, values=values)


def _misfits(
    every: Iterable[KeyedMutation], failures: Iterable[Refusal | None]
) -> Iterator[tuple[int, Refusal]]:
    for one, failure in zip(every, failures, strict=True):
        if failure is not None and one.number is not None:
            yield one.number, failure
