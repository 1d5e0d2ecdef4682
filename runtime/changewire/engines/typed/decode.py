"""Rows as typed columns: `before` and `after` in the types that a user gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial, reduce
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.change_row import ChangeRow
from changewire.changes.connect.reads import ROUNDED_NUMBER
from changewire.changes.decode_options import DecodeOptions, ElementRow
from changewire.codec import DecodeError, rejection
from changewire.codec.wire import too_deep
from changewire.engines.decode import Decoder
from changewire.engines.elements import Elements
from changewire.engines.messages import MessageDecoder
from changewire.engines.native import Kernel, RowFit, fit_of, kernel_of
from changewire.engines.places import Places
from changewire.engines.typed.cells import CellError, RowCells
from changewire.engines.typed.fit import row_columns
from changewire.engines.typed.readings import reading_of_rows
from changewire.engines.typed.schemas import RowsAs, given_columns
from changewire.engines.typed.types import without_metadata
from changewire_messages.change import Rejection

IMAGES: Final = ("before", "after")
"""Columns of the rows of a change."""


class TypedDecoder(Decoder):
    """Decodes batches into rows whose `before` and `after` are columns of a type.

    Their JSON text becomes such columns as in tables. A column whose name differs from one of the
    type in case only is that one, unless the type has several such; two for one make the element a
    dead letter, and so does a value that does not fit its column. Columns that the type does not
    name go to ``attributes`` as ``undeclared``.
    """

    def __init__(self, decode_options: DecodeOptions, row: pa.Schema) -> None:
        """Check that rows can have the columns, which are as `types.row_columns` returns them."""
        super().__init__(decode_options)
        RowCells(row, reading_of_rows(row))
        self._row = row

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given; the worker compiles it again."""
        return {"decode_options": self.decode_options, "_row": self._row}

    def _kernel(self) -> Kernel | None:
        fit = fit_of_images(self._row)
        return None if fit is None else kernel_of(self.decode_options, fit)

    @property
    def _kind(self) -> pa.StructType:
        return pa.struct([*without_metadata(self._row)])

    @cached_property
    def _columns_of_row(self) -> RowCells:
        return RowCells(self._row, reading_of_rows(self._row))

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
            return self._typed(result, used), leniencies + used
        except CellError as error:
            issue = error.issue
            if issue.code == ROUNDED_NUMBER:  # a code of tables, and of no message
                issue = msgspec.structs.replace(issue, code="wrong-type")
        except RecursionError:
            issue = too_deep("row")
        except Exception as error:  # noqa: BLE001 - one element must not end the stream
            return self._failed(error), []
        return rejection(DecodeError(self.decode_options.format_of(value), [issue]), number), []

    def _typed(self, change: ChangeRow, used: list[str]) -> ChangeRow:
        """Return a change with its rows fit into their columns; `used` gets leniencies."""
        attributes, row = change.attributes, self._columns_of_row
        undeclared: dict[str, Any] = {}
        images: dict[str, dict[str, Any]] = {}
        for name in IMAGES:
            image = getattr(change, name)
            if image is not None:
                text = msgspec.json.encode(image)
                images[name] = row_columns(text, row, used, f"/{name}")
                if rest := {n: one for n, one in image.items() if row.column(n) not in row.cells}:
                    undeclared[name] = rest
        if undeclared:
            attributes = {**attributes, "undeclared": undeclared}
        return msgspec.structs.replace(change, attributes=attributes, **images)

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        columns = super()._columns(batch, elements, places)
        for name in IMAGES:
            values = [None if change is None else getattr(change, name) for change in elements.rows]
            columns[name] = pa.array(values, self._kind)
        return columns


def decoder_of(decode_options: DecodeOptions, row_schema: RowsAs = "json") -> Decoder:
    """Return what decodes messages into rows that are ``json``, or what `given_columns` takes."""
    is_json = isinstance(row_schema, str) and row_schema == "json"
    if decode_options.elements_as == "messages":
        if not is_json:
            raise ValueError("rows are those of changes; messages are kept as they are")
        return MessageDecoder(decode_options)
    if is_json:
        return Decoder(decode_options)
    return TypedDecoder(decode_options, given_columns(row_schema, decode_options))


def fit_of_images(row: pa.Schema) -> RowFit | None:
    """Return what fits rows into columns; None if the kernel does not know such columns."""
    fit = fit_of((), row)
    return None if fit is None else partial(_fitted, fit, pa.struct([*without_metadata(row)]))


def _fitted(
    fit: Any, kind: pa.StructType, change: Mapping[str, pa.Array]
) -> tuple[dict[str, pa.Array], pa.Array]:
    """Return changes with rows of a type, and which of them are declined; see `RowFit`."""
    found = [_columns(fit, kind, change[name]) for name in IMAGES]
    content, others, is_declined = zip(*found, strict=True)
    attributes = _with_undeclared(change["attributes"], others)
    rows = dict(zip(IMAGES, content, strict=True))
    return {**change, **rows, "attributes": attributes}, reduce(pc.or_, is_declined)


def _columns(fit: Any, kind: pa.StructType, texts: pa.Array) -> tuple[pa.Array, ...]:
    """Return rows, the texts of their members that no column names, and which are declined."""
    made = fit.fitted(None, texts.cast(pa.binary()))
    if made is None:  # columns have no room for them
        size = len(texts)
        return pa.nulls(size, kind), pa.nulls(size, pa.string()), pa.array([True] * size)
    return tuple(made.column(name) for name in ("content", "others", "declined"))


def _with_undeclared(attributes: pa.Array, others: Sequence[pa.Array]) -> pa.Array:
    """Return attributes with the members of rows that no column names, as ``undeclared``."""
    has_some = reduce(pc.or_, map(pc.is_valid, others))
    if not has_some.true_count:
        return attributes
    join = pc.binary_join_element_wise
    members = [join(f'"{name}":', one, "") for name, one in zip(IMAGES, others, strict=True)]
    undeclared = pc.coalesce(join(*members, ","), *members)
    comma = pc.if_else(pc.equal(attributes, "{}"), "", ",")
    opened = pc.utf8_slice_codeunits(attributes, 0, -1)
    texts = join(opened, comma, '"undeclared":{', undeclared, "}}", "")
    return pc.if_else(has_some, texts, attributes)
