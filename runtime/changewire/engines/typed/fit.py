"""Keys and rows of changes, which are JSON text, as the columns of a table.

`fitted_texts` defines what becomes of one change. The native kernel makes the same columns of most
changes, and leaves the others to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.connect.reads import ROUNDED_NUMBER
from changewire.engines.arrays import Column, indices_of
from changewire.engines.native import fit_of, merged
from changewire.engines.typed.cells import CellError, Cells, RowCells, field_cell, fitted_row
from changewire.engines.typed.own import USUAL, Own, RowOptions, own_columns
from changewire.engines.typed.readings import CHANGE_TEXT, EXACT_TEXT, KEY_TEXT
from changewire.engines.typed.types import without_metadata
from changewire.tables.keys import key_text
from changewire.tables.routing import Refusal, apply_failed
from changewire_messages.hooks import exact_number
from changewire_messages.support import pointer_token

Texts: TypeAlias = Column
"""A column of JSON text."""

_STEP: Final = "fitting the row to its table"

_parsed: Final = msgspec.json.Decoder(dict[str, Any], float_hook=exact_number).decode


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
        self._rescuing: Own | None = None
        if how.were_applied:
            self._rescuing = Own(self.row, self.key.names, how._replace(misfits="rescue"))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given; a task makes the rest again."""
        names = ("key", "row", "_exact", "own", "_rescuing")
        return {name: self.__dict__[name] for name in names}

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
        found = [self._fitted(*one) for one in each]
        failures = [one.failure for one in found]
        columns = [
            built([getattr(one, field.name) for one in found], field.type, failures)
            for field in self._schema
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        return batch, {n: why for n, why in enumerate(failures) if why is not None}

    def _fitted(self, key: str, after: str | None, columns: str | None) -> Fitted:
        found = fitted_texts(key, after, self.cells, columns)
        if found.failure is None or self._rescuing is None:
            return found
        return fitted_texts(key, after, self.cells._replace(own=self._rescuing), columns)


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


class Fitted(NamedTuple):
    """The columns of a change, or why it does not fit its table.

    Attributes:
        key: Text of the key, written again from its columns, so that two keys have one text if and
            only if they name one row of the table.
        named: Columns of the key.
        content: Columns of the row; None for a delete.
        failure: Why it does not fit; None if it does.
        rounded: How many numbers were rounded.
        rescued: JSON text of the values that do not fit; None if all do.
    """

    key: str
    named: dict[str, Any] | None
    content: dict[str, Any] | None
    failure: Refusal | None
    rounded: int = 0
    rescued: str | None = None


def key_cells(columns: Iterable[pa.Field]) -> Cells:
    """Return what fits keys into columns."""
    return {column.name: field_cell(column, KEY_TEXT) for column in columns}


def row_cells(columns: Iterable[pa.Field], *, exact: bool = False) -> RowCells:
    """Return what fits rows of the change log into columns; `exact` is whether none is rounded."""
    return RowCells(columns, EXACT_TEXT if exact else CHANGE_TEXT)


class Fitting(NamedTuple):
    """What fits the texts of changes into columns.

    Attributes:
        key: What fits the columns of keys.
        row: What fits those of rows.
        own: Given if the columns are those of messages.
    """

    key: Cells
    row: RowCells
    own: Own | None = None


def fitted_texts(key: str, after: str | None, cells: Fitting, columns: str | None = None) -> Fitted:
    """Return the columns of a change, by the texts of its key and of its row.

    `columns` is the text of those that the message declares or shows.
    """
    named = content = failure = rescued = None
    used: list[str] = []
    pointer = "/key"
    try:
        named = _key_columns(key, cells.key)
        key = key_text(named)
        pointer = "/after"
        if after is not None and cells.own is not None:
            content, rescued = own_columns(after, cells.row, cells.own, columns, used)
        elif after is not None:
            content = row_columns(after, cells.row, used)
    except CellError as error:
        code = "schema-mismatch" if pointer == "/key" else error.issue.code
        expected = f"expected {error.issue.expected}, found {error.issue.actual_type}"
        failure = Refusal(code, f"{pointer}{error.issue.place}", expected)
    except Exception as error:  # noqa: BLE001 - one row must not end the stream
        failure = apply_failed(error, pointer, _STEP)
    return Fitted(key, named, content, failure, used.count(ROUNDED_NUMBER), rescued)


def row_columns(
    text: str | bytes, cells: RowCells, used: list[str], at: str = ""
) -> dict[str, Any]:
    """Return the columns of a row, by its text; members that no column names are left out.

    Args:
        text: The row.
        cells: What fits its values.
        used: Gets the leniencies that it needs.
        at: JSON Pointer of the row.

    Raises:
        CellError: A value does not fit, or two are of one column.
    """
    return fitted_row(cells.renamed(_parsed(text), at, used), cells.cells, at, used)


def built(values: Sequence[Any], kind: pa.DataType, failures: list[Refusal | None]) -> pa.Array:
    """Return values as a column; those that Arrow refuses are NULL, and added to the failures."""
    try:
        return pa.array(values, kind)
    except Exception:  # noqa: BLE001 - one value must not end the stream
        kept = [*values]
    for index, value in enumerate(values):
        try:
            pa.array([value], kind)
        except Exception as error:  # noqa: BLE001, PERF203 - as above
            failures[index] = failures[index] or apply_failed(error, "/after", _STEP)
            kept[index] = None
    return pa.array(kept, kind)


def _key_columns(text: str, cells: Cells) -> dict[str, Any]:
    """Return the columns of a key."""
    found = _parsed(text)
    for name in found.keys() ^ cells.keys():
        raise CellError(f"/{pointer_token(name)}", "a column of the table's key", msgspec.UNSET)
    return fitted_row({name: found[name] for name in cells}, cells, "", [])
