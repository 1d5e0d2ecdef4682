"""What changes do to the rows of a table, with the values that columns of a type have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
from msgspec import UNSET
from msgspec.structs import replace

from changewire.engines.typed.fitted import (
    STEP,
    Fitted,
    built,
    fitted_texts,
    key_cells,
    names_of,
    row_cells,
)
from changewire.engines.typed.names import ColumnNames
from changewire.engines.typed.types import without_metadata
from changewire.tables.batch import KeyedMutation, TableMutations
from changewire.tables.mutations import DELETE, RowMutation
from changewire.tables.routing import Refusal

Row: TypeAlias = dict[str, Any]


class FittedMutations(NamedTuple):
    """What changes do to the rows of a table, with the values that the table has.

    Attributes:
        mutations: The mutations by the texts of their keys.
        named: Columns of these keys.
        misfits: Why changes do not fit the table, by their numbers.
    """

    mutations: TableMutations
    named: dict[str, Row]
    misfits: dict[int, Refusal]


class TypedColumns:
    """Columns of rows, and of their key; columns of the key that the row lacks are text.

    Attributes:
        row: Columns of the row.
        key: Columns of the key.
    """

    def __init__(self, row: pa.Schema, keys: Sequence[str]) -> None:
        """Remember the columns of rows, and find those of the key by their names."""
        fields = {field.name: field for field in row}
        self.row = row
        self.key = pa.schema([fields.get(name, pa.field(name, pa.string())) for name in keys])

    @property
    def key_only(self) -> list[pa.Field]:
        """The columns of the key that the row lacks."""
        return [field for field in self.key if field.name not in self.row.names]

    @cached_property
    def _types(self) -> tuple[pa.DataType, pa.DataType]:
        """Types of keys and rows."""
        return pa.struct([*without_metadata(self.key)]), pa.struct([*without_metadata(self.row)])

    def fitted(self, found: TableMutations, afters: Sequence[str | None]) -> FittedMutations:
        """Return mutations whose keys and values are those of the columns.

        Args:
            found: Mutations by the texts of keys.
            afters: Rows after changes as JSON text, by the numbers of the changes.
        """
        every = [one for of_key in found.values() for one in of_key]
        of_key, of_row = key_cells(self.key), row_cells(self.row)
        fitted = [fitted_texts(one.key, _after(one, afters), of_key, of_row) for one in every]
        failures = [one.failure for one in fitted]
        named, contents = self._held(fitted, failures)
        names = names_of(tuple(self.row.names))
        mutations: TableMutations = {}
        keys: dict[str, Row] = {}
        for i, (one, failure) in enumerate(zip(every, failures, strict=True)):
            if failure is None:
                key, mutation = fitted[i].key, _typed(one.mutation, contents[i], names)
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


def without_key(key: Collection[str], values: Mapping[str, Any]) -> Row:
    """Return the columns of a row but those of its key."""
    return {name: value for name, value in values.items() if name not in key}


def mutation_without_key(key: Collection[str], mutation: RowMutation) -> RowMutation:
    """Return a mutation whose columns are those of the row but its key's."""
    return replace(mutation, values=without_key(key, mutation.values))


def _after(one: KeyedMutation, afters: Sequence[str | None]) -> str | None:
    is_delete = one.number is None or one.mutation.kind == DELETE
    return None if is_delete else afters[one.number or 0]


def _typed(mutation: RowMutation, content: Row | None, names: ColumnNames) -> RowMutation:
    """Return a mutation with the columns that a row has, as `effects.mutation_of` makes it."""
    values = {name: value for name, value in (content or {}).items() if value is not None}
    if mutation.kind == "patch":
        columns = map(names.column, mutation.values)
        values = {column: values.get(column, UNSET) for column in columns}
    return replace(mutation, values=values)


def _misfits(
    every: Iterable[KeyedMutation], failures: Iterable[Refusal | None]
) -> Iterator[tuple[int, Refusal]]:
    for one, failure in zip(every, failures, strict=True):
        if failure is not None and one.number is not None:
            yield one.number, failure
