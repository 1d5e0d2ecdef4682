"""Keys and rows of changes, which are columns of JSON text, as the columns of a table.

`changewire.engines.typed.fitted` defines what becomes of one change. The native kernel makes the
same columns of most changes, and leaves the others to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.arrays import Column, indices_of
from changewire.engines.native import fit_of, merged
from changewire.engines.typed.fitted import (
    Fitting,
    built,
    fitted_texts,
    key_cells,
    row_cells,
)
from changewire.engines.typed.own import USUAL, Own, RowOptions
from changewire.engines.typed.types import without_metadata
from changewire.tables.routing import Refusal

Texts: TypeAlias = Column
"""A column of JSON text."""


class FittedColumns(NamedTuple):
    """The columns of changes, in their order.

    Attributes:
        key: Texts of the keys, written again from their columns, so that two keys have one text if
            and only if they name one row of the table; of a key that does not fit, as it was.
        named: Columns of the keys, as structs without metadata.
        content: Columns of the rows, likewise; NULL for a delete.
        rounded: How many numbers of each row were rounded.
        rescued: JSON text of the values of each row that do not fit, or have no column, by their
            names; NULL without any.
        failures: Why changes do not fit, by their indexes. Their columns may be NULL.
    """

    key: pa.Array
    named: pa.StructArray
    content: pa.StructArray
    rounded: pa.Array
    rescued: pa.Array
    failures: Mapping[int, Refusal]


class Fit:
    """Fits changes into the columns of a table, exactly or not at all. It pickles, for tasks.

    Attributes:
        key: Columns of the table's key.
        row: Columns of its rows.
    """

    def __init__(
        self,
        key: Iterable[pa.Field],
        row: Iterable[pa.Field],
        how: RowOptions = USUAL,
    ) -> None:
        """Take the columns of keys and rows; by default values without a column are passed over."""
        self.key: pa.Schema = pa.schema([*key])
        self.row: pa.Schema = pa.schema([*row])
        self._exact = how.exact
        self.own: Own | None = None
        if how.misfits is not None:
            self.own = Own(self.row, self.key.names, how)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given; a task makes the rest again."""
        return {"key": self.key, "row": self.row, "_exact": self._exact, "own": self.own}

    def __call__(self, keys: Texts, afters: Texts, columns: Texts | None = None) -> FittedColumns:
        """Return the columns of changes.

        Args:
            keys: Their keys, as `changewire.tables.keys.key_text`.
            afters: Their rows, NULL for deletes.
            columns: Texts of the columns that messages declare or show, for tables that have these.

        Raises:
            ValueError: A row has no column of one of the types.
        """
        nothing = pa.nulls(len(keys), pa.string())
        texts = pa.table(
            [keys, afters, nothing if columns is None else columns],
            names=["key", "after", "columns"],
        )
        parts: list[pa.RecordBatch] = []
        failures: dict[int, Refusal] = {}
        start = 0
        for batch in texts.to_batches() or [pa.RecordBatch.from_pylist([], texts.schema)]:
            part, failed = self._part(batch)
            parts.append(part)
            failures |= {start + index: why for index, why in failed.items()}
            start += len(batch)
        key, named, content, rounded, rescued = (
            pa.concat_arrays([part.column(field.name) for part in parts]) for field in self._schema
        )
        return FittedColumns(key, named, content, rounded, rescued, failures)

    @cached_property
    def cells(self) -> Fitting:
        """What fits the texts of keys and rows into their columns."""
        return Fitting(key_cells(self.key), row_cells(self.row, exact=self._exact), self.own)

    @cached_property
    def kernel(self) -> Any:
        """What fits most of them; None without the kernel, or if it does not know such columns."""
        return fit_of(self.key, self.row)

    @cached_property
    def _schema(self) -> pa.Schema:
        kinds = [pa.struct([*without_metadata(columns)]) for columns in (self.key, self.row)]
        kinds = [pa.string(), *kinds, pa.int32(), pa.string()]
        return pa.schema([*zip(FittedColumns._fields, kinds, strict=False)])

    def _part(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, dict[int, Refusal]]:
        """Return columns of `_schema` for changes, and why changes do not fit."""
        texts = [column.cast(pa.string()) for column in batch.columns]
        made = None
        if self.kernel is not None:
            keys, afters = texts[0], texts[1]
            if self.own is not None:
                # The kernel declines rows without a key.
                keys = pc.if_else(self._has_strangers(texts[2], afters), None, keys)
            made = self.kernel.fitted(*(column.cast(pa.binary()) for column in (keys, afters)))
        if made is None:
            return self._by_cells(texts)
        *columns, _, is_declined = made.columns
        rounded = pa.repeat(pa.scalar(0, pa.int32()), len(made))
        columns += [rounded, pa.nulls(len(made), pa.string())]
        found = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        declined = indices_of(is_declined)
        if not declined:
            return found, {}
        others, failures = self._by_cells([column.filter(is_declined) for column in texts])
        pieces = _pieces(declined, len(made))
        return merged([found, others], pieces), {declined[n]: why for n, why in failures.items()}

    def _has_strangers(self, columns: pa.Array, afters: pa.Array) -> pa.Array:
        """Return which rows have values without a column, or that may be."""
        own = self.own
        encoded = columns.dictionary_encode()
        flags = [bool(own and own.strangers(text)) for text in encoded.dictionary.to_pylist()]
        found = pa.array([*flags, True], pa.bool_()).take(
            pc.fill_null(encoded.indices, len(encoded.dictionary))
        )
        return pc.and_(found, pc.is_valid(afters))

    def _by_cells(self, texts: Iterable[pa.Array]) -> tuple[pa.RecordBatch, dict[int, Refusal]]:
        each = zip(*(column.to_pylist() for column in texts), strict=True)
        found = [fitted_texts(key, after, self.cells, columns) for key, after, columns in each]
        failures = [one.failure for one in found]
        columns = [
            built([getattr(one, field.name) for one in found], field.type, failures)
            for field in self._schema
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        return batch, {n: why for n, why in enumerate(failures) if why is not None}


def _pieces(declined: Iterable[int], size: int) -> list[tuple[int, int, int]]:
    """Return runs of rows for `merged`: those of batch 1 have the places of declined rows."""
    found: list[tuple[int, int, int]] = []
    start = 0
    for number, index in enumerate(declined):
        if start < index:
            found.append((0, start, index))
        found.append((1, number, number + 1))
        start = index + 1
    return [*found, (0, start, size)]
