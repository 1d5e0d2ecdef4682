"""Values of a row to the types of its columns: exactly, or not at all.

Nothing is cut or turned into NULL. Text represents another value only where the type asks for it,
see `changewire.engines.typed.readings`, which also says whether a number may be rounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any, Final, TypeAlias

import msgspec
import pyarrow as pa

from changewire.changes.connect.reads import ROUNDED_NUMBER
from changewire.changes.connect.scalars import is_rounded, nearest_double
from changewire.changes.values import NUMERIC
from changewire.codec import Issue
from changewire.engines.typed.readings import (
    CHANGE_TEXT,
    READINGS,
    is_json,
    nearest_single,
)
from changewire.engines.typed.types import no_such_column, type_name
from changewire_messages.support import pointer_token

Cell = Callable[[Any, str, list[str]], Any]
"""Takes a value, its JSON Pointer and a list that gets the leniencies that the value needs; returns
the content of the column."""

Cells: TypeAlias = Mapping[str, Cell]
"""What fits values into columns, by their names."""

OTHER_CASE: Final = "other-case"
"""Leniency: a column of a row differs from that of the type in case only, and was taken for it."""


class CellError(ValueError):
    """A value does not fit its column, or has none to itself: `issue` says where and why."""

    def __init__(
        self, pointer: str, expected: str, actual: object, code: str = "wrong-type"
    ) -> None:
        """Name the place, the column's type and the value."""
        self.issue: Issue = Issue(pointer, code, "row", expected, actual)
        super().__init__(str(self.issue))


def fitted_row(row: Mapping[str, Any], cells: Cells, at: str, used: list[str]) -> dict[str, Any]:
    """Return the columns of a row at a JSON Pointer that have a cell; or raise a `CellError`."""
    return {
        name: None if value is None else cells[name](value, f"{at}/{pointer_token(name)}", used)
        for name, value in row.items()
        if name in cells
    }


class RowCells:
    """What fits rows into columns, found by names that may differ in case, as in most catalogs.

    Attributes:
        cells: What fits values into the columns.
    """

    def __init__(self, columns: Iterable[pa.Field], reading: str) -> None:
        """Take the columns, and how rows are read: a key of `READINGS`."""
        self.cells: Cells = {column.name: field_cell(column, reading) for column in columns}
        folded = Counter(map(str.lower, self.cells))
        self._by_folded = {one.lower(): one for one in self.cells if folded[one.lower()] == 1}

    def column(self, name: str) -> str:
        """Return the only column that a name means; the name itself if it means none, or more."""
        return name if name in self.cells else self._by_folded.get(name.lower(), name)

    def renamed(self, row: Mapping[str, Any], at: str, used: list[str]) -> Mapping[str, Any]:
        """Return a row, which is at a JSON Pointer, under the names of the columns."""
        if row.keys() <= self.cells.keys():
            return row
        found: dict[str, Any] = {}
        for name, value in row.items():
            column = self.column(name)
            if column in found:
                expected = f"one column for {column!a} of the type, whatever its case"
                raise CellError(f"{at}/{pointer_token(name)}", expected, name, "duplicate-column")
            if column != name:
                used.append(OTHER_CASE)
            found[column] = value
        return found


_EXACT: Final[Mapping[pa.DataType, type]] = {
    pa.bool_(): bool,
    pa.int8(): int,
    pa.int16(): int,
    pa.int32(): int,
    pa.int64(): int,
    pa.string(): str,
    pa.binary(): bytes,
    pa.timestamp("us", "UTC"): datetime,
    pa.timestamp("us"): datetime,
    pa.date32(): date,
}
"""Types that take values of one class unchanged."""

_INTEGERS: Final = {
    pa.int8(): (range(-(2**7), 2**7), "-128 to 127"),
    pa.int16(): (range(-(2**15), 2**15), "-32768 to 32767"),
    pa.int32(): (range(-(2**31), 2**31), "-2^31 to 2^31 - 1"),
    pa.int64(): (range(-(2**63), 2**63), "-2^63 to 2^63 - 1"),
}

_FLOATING: Final = frozenset({pa.float32(), pa.float64()})
_NUMBERS: Final = frozenset({int, float, Decimal})
_NON_FINITE: Final = {"NaN", "Infinity", "-Infinity"}


def field_cell(field: pa.Field, reading: str) -> Cell:
    """Return what fits values into a column; `reading` is a key of `READINGS`."""
    return _json_text if is_json(field) else cell(field.type, reading)


def cell(kind: pa.DataType, reading: str) -> Cell:
    """Return what fits values into a type; `reading` is a key of `READINGS`."""
    if pa.types.is_list(kind):
        return _array(kind, reading)
    if pa.types.is_map(kind):
        return _map(kind, reading)
    if pa.types.is_struct(kind):
        return _struct(kind, reading)
    fit = _scalar(kind)
    second = READINGS[reading].get(kind)
    if second is None:
        return fit

    def read(value: Any, at: str, used: list[str]) -> Any:
        found = second(value, used)
        return fit(value, at, used) if found is None else found

    def read_exactly(value: Any, at: str, used: list[str]) -> Any:
        mine: list[str] = []
        found = read(value, at, mine)
        if ROUNDED_NUMBER in mine:
            expected = f"{type_name(kind)} that keeps all digits"
            raise CellError(at, expected, value, ROUNDED_NUMBER)
        used += mine
        return found

    return read if reading == CHANGE_TEXT else read_exactly


def _scalar(kind: pa.DataType) -> Cell:
    if kind in _EXACT:
        return _exact(kind)
    if pa.types.is_decimal128(kind):
        return _decimal(kind)
    if kind in _FLOATING:
        return _floating(kind)
    raise no_such_column(type_name(kind))


def _json_text(value: Any, at: str, used: list[str]) -> str:
    """Return any value as JSON text, as `before` and `after` have it if rows are JSON text."""
    del at, used
    return msgspec.json.encode(value).decode()


def _array(kind: pa.ListType, reading: str) -> Cell:
    item = cell(kind.value_type, reading)

    def fit(value: Any, at: str, used: list[str]) -> list[Any]:
        if type(value) is not list:
            raise CellError(at, "array", value)
        return [None if v is None else item(v, f"{at}/{i}", used) for i, v in enumerate(value)]

    return fit


def _map(kind: pa.MapType, reading: str) -> Cell:
    if kind.key_type != pa.string():
        return _pairs(kind, reading)
    item = cell(kind.item_type, reading)

    def fit(value: Any, at: str, used: list[str]) -> dict[str, Any]:
        if type(value) is not dict:
            raise CellError(at, "map", value)
        return {
            k: None if v is None else item(v, f"{at}/{pointer_token(k)}", used)
            for k, v in value.items()
        }

    return fit


def _pairs(kind: pa.MapType, reading: str) -> Cell:
    """Return what fits a map with keys other than text, which is a list of pairs in a row."""
    if kind.key_type not in _EXACT:
        raise no_such_column(type_name(kind))
    key, item = cell(kind.key_type, reading), cell(kind.item_type, reading)

    def fit(value: Any, at: str, used: list[str]) -> list[tuple[Any, Any]]:
        if type(value) is not list or not all(map(_is_pair, value)):
            raise CellError(at, "map, as an array of pairs", value)
        if None in (keys := [k for k, _ in value]):
            raise CellError(f"{at}/{keys.index(None)}/0", "key of a map", None)
        found = [
            (key(k, f"{at}/{i}/0", used), None if v is None else item(v, f"{at}/{i}/1", used))
            for i, (k, v) in enumerate(value)
        ]
        if len({k for k, _ in found}) < len(found):
            raise CellError(at, "map, whose keys differ", value)
        return found

    return fit


def _is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2  # noqa: PLR2004 - a pair


def _struct(kind: pa.StructType, reading: str) -> Cell:
    cells = {field.name: field_cell(field, reading) for field in kind}

    def fit(value: Any, at: str, used: list[str]) -> dict[str, Any]:
        if type(value) is not dict:
            raise CellError(at, "struct", value)
        for name in value:
            if name not in cells:
                raise CellError(f"{at}/{pointer_token(name)}", "no field of this name", value[name])
        there = {name: value[name] for name in cells if value.get(name) is not None}
        return fitted_row(there, cells, at, used)

    return fit


def _exact(kind: pa.DataType) -> Cell:
    """Return what fits values into a type of `_EXACT`."""
    name, of = type_name(kind), _EXACT[kind]
    integers, reach = _INTEGERS.get(kind, (None, ""))

    def fit(value: Any, at: str, _used: list[str]) -> Any:
        if type(value) is of and (integers is None or value in integers):
            return value
        is_beyond = integers is not None and type(value) is int
        raise CellError(at, f"{name} from {reach}" if is_beyond else name, value)

    return fit


def _floating(kind: pa.DataType) -> Cell:
    """Return what fits numbers into a double or float: those that it represents exactly."""
    name, is_single = type_name(kind), kind == pa.float32()

    def fit(value: Any, at: str, _used: list[str]) -> float:
        if type(value) is str and value in _NON_FINITE:
            return float(value)
        number = value if type(value) is float else _exact_double(value)
        if number is not None and (not is_single or nearest_single(number) == number):
            return float(number)
        raise CellError(at, _fewer_digits(name) if type(value) in _NUMBERS else name, value)

    return fit


def _fewer_digits(name: str) -> str:
    """Return what is expected of a number that has more digits than a type."""
    return f"number of no more digits than {name} holds"


def _exact_double(value: Any) -> float | None:
    """Return the double that is an integer, or has the digits of a decimal; None without one."""
    if type(value) not in {int, Decimal}:
        return None
    number = nearest_double(value)
    is_same = number == value if type(value) is int else not is_rounded(number, value)
    return number if is_same else None


def _decimal(kind: pa.Decimal128Type) -> Cell:
    """Return what fits numbers, and numeric text, into a decimal that has room for them."""
    name, last_digit = type_name(kind), Decimal(1).scaleb(-kind.scale)
    room = Context(prec=kind.precision, traps=[Inexact, InvalidOperation])

    def fit(value: Any, at: str, _used: list[str]) -> Decimal:
        number = Decimal("NaN")
        if type(value) in _NUMBERS or (type(value) is str and NUMERIC.fullmatch(value)):
            with suppress(Inexact, InvalidOperation):
                number = Decimal(repr(value) if type(value) is float else value)
                if number.is_finite():
                    number.quantize(last_digit, context=room)  # raises if it has more digits
                    return number
        raise CellError(at, _fewer_digits(name) if number.is_finite() else name, value)

    return fit
