"""Keys and rows of changes, which are JSON text, as the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa

from changewire.changes.connect.reads import ROUNDED_NUMBER
from changewire.engines.typed.cells import CellError, Cells, RowCells, field_cell, fitted_row
from changewire.engines.typed.own import Own, own_columns
from changewire.engines.typed.readings import CHANGE_TEXT, EXACT_TEXT, KEY_TEXT
from changewire.tables.keys import key_text
from changewire.tables.routing import Refusal, apply_failed
from changewire_messages.hooks import exact_number
from changewire_messages.support import pointer_token

_STEP: Final = "fitting the row to its table"

_parsed: Final = msgspec.json.Decoder(dict[str, Any], float_hook=exact_number).decode


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
