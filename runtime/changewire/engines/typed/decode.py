"""Rows as typed columns: `before` and `after` in the types that a user gives."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec
import pyarrow as pa

from changewire.changes.change_row import ChangeRow
from changewire.changes.decode_options import DecodeOptions, ElementRow
from changewire.codec import DecodeError, rejection
from changewire.codec.wire import too_deep
from changewire.engines.decode import Decoder
from changewire.engines.elements import Elements
from changewire.engines.native import Form, Kernel, RowType, kernel_of
from changewire.engines.places import Places
from changewire.engines.typed.cells import field_cell
from changewire.engines.typed.names import ColumnNames
from changewire.engines.typed.readings import kernel_readings
from changewire.engines.typed.scalar_cells import Cell, CellError
from changewire.engines.typed.types import without_metadata
from changewire_messages.change import Rejection
from changewire_messages.support import pointer_token

_IMAGES = ("before", "after")


class TypedDecoder(Decoder):
    """Decodes batches into rows whose `before` and `after` are columns of a type.

    A column whose name differs from one of the type in case only is that one, unless the type has
    several such; two for one make the element a dead letter, and so does a value that does not fit
    its column. Columns that the type does not name go to ``attributes`` as ``undeclared``.

    Attributes:
        is_only_checked: Whether rows stay JSON text, and only have to fit the type.
    """

    is_only_checked = False

    def __init__(self, decode_options: DecodeOptions, row: pa.Schema) -> None:
        """Check that rows can have the columns, which are as `types.row_columns` returns them.

        Raises:
            ValueError: A column is of a type that no value of a message can have.
        """
        super().__init__(decode_options)
        for field in row:
            field_cell(field)
        self._row = row

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given; the worker compiles it again."""
        return {"decode_options": self.decode_options, "_row": self._row}

    @cached_property
    def kernel(self) -> Kernel | None:
        """What decodes most messages quickly; None if there is no such, or not for these rows."""
        if type(self) is not TypedDecoder:
            return None
        return kernel_of(self.decode_options, row=self._kernel_row())

    def _kernel_row(self) -> RowType:
        """Return the type of rows as the kernel takes it."""
        readings = [*kernel_readings(self._row)]
        form: Form = "text" if self.is_only_checked else "columns"
        return RowType(without_metadata(self._row), readings, form)

    @property
    def _kind(self) -> pa.StructType:
        """The type of rows."""
        return pa.struct([*without_metadata(self._row)])

    @cached_property
    def _cells(self) -> dict[str, Cell]:
        return {field.name: field_cell(field) for field in self._row}

    @cached_property
    def _names(self) -> ColumnNames:
        return ColumnNames(self._row.names)

    def _elements(self, value: bytes | None, key: bytes | None) -> list[ElementRow]:
        found = super()._elements(value, key)
        return [
            element if value is None else self._element(*element, i, value)
            for i, element in enumerate(found)
        ]

    def _element(
        self, result: ChangeRow | Rejection, leniencies: list[str], number: int, value: bytes
    ) -> ElementRow:
        if isinstance(result, Rejection):
            return result, leniencies
        used: list[str] = []
        try:
            named = self._named(result, used)
            typed = self._typed(named, used)
            return named if self.is_only_checked else typed, leniencies + used
        except CellError as error:
            issue = error.issue
        except RecursionError:
            issue = too_deep("row")
        return rejection(DecodeError(self.decode_options.format_of(value), [issue]), number), []

    def _named(self, change: ChangeRow, used: list[str]) -> ChangeRow:
        """Return a change whose rows have the names of their columns; `used` gets leniencies."""
        images = {
            name: self._names.renamed(image, f"/{name}", used)
            for name in _IMAGES
            if (image := getattr(change, name)) is not None
        }
        if all(image is getattr(change, name) for name, image in images.items()):
            return change
        return msgspec.structs.replace(change, **images)

    def _typed(self, change: ChangeRow, used: list[str]) -> ChangeRow:
        """Return a change with its rows fit into their columns; `used` gets leniencies."""
        undeclared: dict[str, Any] = {}
        images: dict[str, dict[str, Any]] = {}
        for name in _IMAGES:
            image = getattr(change, name)
            if image is None:
                continue
            images[name] = {
                column: None
                if value is None
                else self._cells[column](value, f"/{name}/{pointer_token(column)}", used)
                for column, value in image.items()
                if column in self._cells
            }
            rest = {column: value for column, value in image.items() if column not in self._cells}
            if rest:
                undeclared[name] = rest
        attributes = (
            {**change.attributes, "undeclared": undeclared} if undeclared else change.attributes
        )
        return msgspec.structs.replace(change, attributes=attributes, **images)

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        columns = super()._columns(batch, elements, places)
        for name in () if self.is_only_checked else _IMAGES:
            values = [None if change is None else getattr(change, name) for change in elements.rows]
            columns[name] = pa.array(values, self._kind)
        return columns
