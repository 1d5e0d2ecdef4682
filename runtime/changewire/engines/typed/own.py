"""Columns of a table that are those of its messages: none of their values may be left out.

A type is that of the messages which made the column. A value that does not fit its column, or that
has none, is kept as JSON text in ``_changewire.rescued``, or its change is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import pyarrow as pa

from changewire.changes.connect.reads import ROUNDED_NUMBER
from changewire.engines.applied import COLUMNS, property_text, property_value
from changewire.engines.carried import RAW_MEMBERS
from changewire.engines.declared import VOID, columns_of_text, field_of, kind_of
from changewire.engines.settings import Misfits
from changewire.engines.typed.cells import CellError, RowCells, fitted_row
from changewire.engines.typed.evolve import joined_type
from changewire.engines.typed.readings import CHANGE_TEXT, JSON
from changewire.engines.typed.types import StructJson, field_as_json, parts, struct_json
from changewire_messages.hooks import exact_number
from changewire_messages.support import pointer_token

_TEXTS: Final = frozenset({"binary", "date", "string", "timestamp", "timestamp_ntz"})
"""Types whose values are text in a log: only its type says what a text means."""

_KINDS: Final = (
    *("boolean", "byte", "short", "integer", "long", "float", "double", VOID, JSON),
    *sorted(_TEXTS),
)
"""Types that most texts of columns have."""

T = TypeVar("T")

_parsed: Final = msgspec.json.Decoder(dict[str, Any], float_hook=exact_number).decode


class RowOptions(NamedTuple):
    """How the values of changes become columns.

    Attributes:
        exact: Whether no number is rounded.
        misfits: What becomes of a row with a value that does not fit its column, or that has none;
            None if such a change is refused, and values without a column are passed over.
        given: Names of columns whose types a user gave: text may represent their values.
        were_applied: Whether the table has taken the changes: their values that do not fit were
            rescued, whatever `misfits` is now.
    """

    exact: bool = False
    misfits: Misfits | None = None
    given: frozenset[str] = frozenset()
    were_applied: bool = False


ROWS: Final = "changewire.rows"
"""Property of a table: the `RowOptions` that its rows were made with, but for rounding, and its
columns of JSON text."""


def rows_text(how: RowOptions, columns: Iterable[pa.Field]) -> str:
    """Return the text of the property `ROWS` of a table with some columns."""
    of_json = [one.name for one in columns if kind_of(field_as_json(one)) == JSON]
    return property_text([how.misfits, sorted(how.given), of_json])


def row_properties(
    how: RowOptions, columns: Iterable[pa.Field] | None, named: Iterable[str] | None
) -> dict[str, str]:
    """Return the properties that say which columns of a table are written, and how.

    They are empty, which counts as unset, of a table of JSON text: `columns` is None.
    """
    if columns is None:
        return {COLUMNS: "", ROWS: ""}
    found = {} if named is None else {COLUMNS: property_text(sorted(named))}
    return {**found, ROWS: rows_text(how, columns)}


def rows_in(properties: Mapping[str, str]) -> RowOptions:
    """Return how the rows of a table were made, by its properties."""
    misfits, given, _ = property_value(properties.get(ROWS)) or (None, (), ())
    return RowOptions(misfits=misfits, given=frozenset(given))


def with_json(columns: StructJson, properties: Mapping[str, str]) -> StructJson:
    """Return columns of a table, of which its properties say the ones of JSON text.

    Tables of Iceberg do not say so themselves.
    """
    *_, of_json = property_value(properties.get(ROWS)) or ((),)
    names = frozenset[str](of_json)
    fields = columns["fields"]
    return struct_json([field_of(o["name"], JSON) if o["name"] in names else o for o in fields])


USUAL: Final = RowOptions()
"""Values without a column are passed over, and those that do not fit refuse the change."""


class Own:
    """The columns of a table that are those of its messages: no value may be without one.

    Attributes:
        row: The columns.
        key: Names of the columns of the key, which is fitted alone.
        how: What becomes of values that do not fit.
    """

    def __init__(self, row: Iterable[pa.Field], key: Iterable[str], how: RowOptions) -> None:
        """Take the columns of rows."""
        self.row: dict[str, pa.Field] = {column.name: column for column in row}
        self.key: frozenset[str] = frozenset(key)
        self.how: RowOptions = how
        self._cells = RowCells(self.row.values(), CHANGE_TEXT)
        self._known = frozenset(self._members())
        self._looked = lru_cache(maxsize=1024)(self._all_strange)

    def __reduce__(self) -> Any:
        """Pickle what the constructor was given."""
        return type(self), ([*self.row.values()], self.key, self.how)

    def strangers(self, text: str | None) -> Collection[str]:
        """Return the names of values that have no column, or one whose text means another type.

        `text` is that of the columns that a message declares or shows. Most have members that are
        known; there may be as many texts as rows.
        """
        if text is None or self._known.issuperset(text[1:-1].split(",")):
            return ()
        found: Collection[str] = self._looked(text)
        return found

    def _all_strange(self, text: str) -> frozenset[str]:
        return frozenset(self._strange(text))

    def _members(self) -> Iterator[str]:
        """Yield the members of texts whose values have a column."""
        yield ""
        for name, field in self.row.items():
            has = kind_of(field_as_json(field))
            for kind in _KINDS:
                if name in self.key or name in self.how.given or not _differs(kind, has):
                    yield msgspec.json.encode({name: kind}).decode()[1:-1]

    def _strange(self, text: str) -> Iterator[str]:
        for field in columns_of_text(text)["fields"]:
            name = field["name"]
            if name in self.key:
                continue
            # Of names for one column, a row may have one alone: `own_columns` knows.
            column = self._cells.column(name)
            there = self.row.get(column)
            if there is None:
                yield name
            elif column not in self.how.given:
                has = kind_of(field_as_json(there))
                yield from [name] if _differs(kind_of(field), has) else ()

    def is_of(self, name: str, column: str, text: str | None) -> bool:
        """Whether a value has the type of its column: only then may a number be rounded."""
        if text is None:
            return True
        fields = columns_of_text(text)["fields"]
        has = kind_of(field_as_json(self.row[column]))
        return any(one["name"] == name and kind_of(one) == has for one in fields)


def _exact_first(row: Mapping[str, T], columns: Collection[str]) -> list[tuple[str, T]]:
    """Return the members of a row: those with the names of columns before all of another case."""
    return sorted(row.items(), key=lambda item: item[0] not in columns)


def _differs(kind: Any, there: Any) -> bool:
    """Whether a column does not have the values of a type; for others the value itself says it."""
    if kind == VOID or there == JSON:
        return False
    if there == "string":
        return bool(kind != there)
    if kind == JSON:  # a list or an object, or any value of a type that is not known
        return not parts(there) or _has_text(there)
    is_text = _has_text(kind) or (bool(parts(there)) and _has_text(there))
    return is_text and joined_type(there, kind) != there


def _has_text(kind: Any) -> bool:
    """Whether a type, or one within it, has values that are text in a log."""
    if isinstance(kind, str):
        return kind in _TEXTS
    if kind["type"] == "map" and kind["keyType"] == "string":  # any object has such keys
        return _has_text(kind["valueType"])
    return any(_has_text(part) for _, part in parts(kind))


def own_columns(
    text: str, cells: RowCells, own: Own, columns: str | None, used: list[str]
) -> tuple[dict[str, Any], str | None]:
    """Return the columns of a row, and the JSON text of values that do not fit; None without any.

    Args:
        text: The row.
        cells: What fits values into the columns.
        own: The columns.
        columns: Text of the columns that the message declares or shows.
        used: Gets the leniencies that values need.

    Raises:
        CellError: A value does not fit, and such are refused.
    """
    found: dict[str, Any] = {}
    misfits: dict[str, str] = {}
    strangers = own.strangers(columns)
    for name, value in _exact_first(_parsed(text), cells.cells):
        column = cells.column(name)
        if name in own.key:
            continue
        if value is None:
            found.setdefault(column, None)
            continue
        is_column = column in cells.cells and column not in own.key
        is_free = is_column and found.get(column) is None and column not in misfits
        is_stranger = name in strangers or not is_free
        needs: list[str] = []
        try:
            known = {} if is_stranger else cells.cells
            fitting = fitted_row({column: value}, known, "", needs)
        except CellError as error:
            # By `numbers` such a number is refused, whatever becomes of other values.
            is_rounded = error.issue.code == ROUNDED_NUMBER and own.is_of(name, column, columns)
            if own.how.misfits == "refuse" or is_rounded:
                raise
            is_stranger = True
        else:
            if ROUNDED_NUMBER in needs and not own.is_of(name, column, columns):
                is_stranger = True
            else:
                found |= fitting
                used += needs
        if is_stranger and own.how.misfits == "refuse":
            raise CellError(f"/{pointer_token(name)}", "a value that a column has", value)
        if is_stranger:
            misfits[column if is_free else name] = name
    content = {name: value for name, value in found.items() if name in cells.cells}
    return content, _rescued(text, misfits)


def _rescued(text: str, misfits: Mapping[str, str]) -> str | None:
    """Return the text of values that do not fit, by names in `text`; None without any."""
    if not misfits:
        return None
    row = RAW_MEMBERS(text)
    return msgspec.json.encode({name: row[own] for name, own in misfits.items()}).decode()
