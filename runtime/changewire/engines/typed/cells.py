"""Values of a row to the types of its columns: exactly, or not at all.

Nothing is cut, parsed from another kind of text or turned into NULL, and only a schema that stands
in the messages lets a number be rounded.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa

from changewire.engines.typed.readings import JSON, READINGS, Reading, reading_of
from changewire.engines.typed.scalar_cells import EXACT, Cell, CellError, scalar_cell
from changewire.engines.typed.types import no_such_column, type_name
from changewire_messages.support import pointer_token


def field_cell(field: pa.Field, typed_by: str = "") -> Cell:
    """Return the function that fits values into a column.

    Its metadata may say ``"contentMediaType": "application/json"``: then text holds any value as
    JSON; and, as `TYPED_BY`, which schema gave the column its type.

    Args:
        field: The column.
        typed_by: A key of `READINGS` for what the metadata does not say.

    Raises:
        ValueError: No value of a message can be of this type.
    """
    reading = reading_of(field, typed_by)
    return _json_text if reading == JSON else cell(field.type, reading)


def cell(kind: pa.DataType, typed_by: str = "") -> Cell:
    """Return the function that fits values into a type.

    Args:
        kind: The type.
        typed_by: A key of `READINGS`: which schema the type is from; empty for none.

    Raises:
        ValueError: No value of a message can be of this type.
    """
    if pa.types.is_list(kind):
        return _array(kind, typed_by)
    if pa.types.is_map(kind):
        return _map(kind, typed_by)
    if pa.types.is_struct(kind):
        return _struct(kind, typed_by)
    fit = scalar_cell(kind)
    if fit is None:
        raise no_such_column(type_name(kind))
    reading = READINGS.get(typed_by, {}).get(kind)
    return _read_first(reading, fit) if reading else fit


def _read_first(reading: Reading, fit: Cell) -> Cell:
    def read(value: Any, at: str, used: list[str]) -> Any:
        found = reading(value, used)
        return fit(value, at, used) if found is None else found

    return read


def _json_text(value: Any, at: str, used: list[str]) -> str:
    """Return any value as JSON text, as `before` and `after` have it if rows are JSON text."""
    del at, used
    return msgspec.json.encode(value).decode()


def _array(kind: pa.ListType, typed_by: str) -> Cell:
    item = cell(kind.value_type, typed_by)

    def fit(value: Any, at: str, used: list[str]) -> list[Any]:
        if type(value) is not list:
            raise CellError(at, "array", value)
        return [None if v is None else item(v, f"{at}/{i}", used) for i, v in enumerate(value)]

    return fit


def _map(kind: pa.MapType, typed_by: str) -> Cell:
    if kind.key_type != pa.string():
        return _pairs(kind, typed_by)
    item = cell(kind.item_type, typed_by)

    def fit(value: Any, at: str, used: list[str]) -> dict[str, Any]:
        if type(value) is not dict:
            raise CellError(at, "map", value)
        return {
            k: None if v is None else item(v, f"{at}/{pointer_token(k)}", used)
            for k, v in value.items()
        }

    return fit


def _pairs(kind: pa.MapType, typed_by: str) -> Cell:
    """Return what fits a map with keys that are no text, which is a list of pairs in a row."""
    if kind.key_type not in EXACT:
        raise no_such_column(type_name(kind))
    key, item = cell(kind.key_type, typed_by), cell(kind.item_type, typed_by)

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


def _struct(kind: pa.StructType, typed_by: str) -> Cell:
    cells = {field.name: field_cell(field, typed_by) for field in kind}

    def fit(value: Any, at: str, used: list[str]) -> dict[str, Any]:
        if type(value) is not dict:
            raise CellError(at, "struct", value)
        for name in value:
            if name not in cells:
                raise CellError(f"{at}/{pointer_token(name)}", "no field of this name", value[name])
        return {
            name: fit_cell(value[name], f"{at}/{pointer_token(name)}", used)
            for name, fit_cell in cells.items()
            if value.get(name) is not None
        }

    return fit
