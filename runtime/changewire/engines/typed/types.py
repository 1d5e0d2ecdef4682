"""Types that columns of rows have: in Arrow, in the JSON form of Spark and Delta, and in SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pyarrow as pa

_SCALARS: Final[Mapping[str, tuple[str, pa.DataType]]] = {
    "boolean": ("boolean", pa.bool_()),
    "byte": ("tinyint", pa.int8()),
    "short": ("smallint", pa.int16()),
    "integer": ("int", pa.int32()),
    "long": ("bigint", pa.int64()),
    "float": ("float", pa.float32()),
    "double": ("double", pa.float64()),
    "string": ("string", pa.string()),
    "binary": ("binary", pa.binary()),
    "date": ("date", pa.date32()),
    "timestamp": ("timestamp", pa.timestamp("us", "UTC")),
    "timestamp_ntz": ("timestamp_ntz", pa.timestamp("us")),
}
"""By the name of a type in JSON: its name in SQL, and the Arrow type."""

_NAMES: Final = {kind: name for name, kind in _SCALARS.values()}

_DECIMAL: Final = re.compile(r"decimal\((\d+), ?(-?\d+)\)")
_DECIMAL_DIGITS: Final = 38

_SAME: Final[tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...]] = (
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_large_binary, pa.binary()),
    (pa.types.is_fixed_size_binary, pa.binary()),
    (lambda kind: pa.types.is_timestamp(kind) and kind.tz is None, pa.timestamp("us")),
    (pa.types.is_timestamp, pa.timestamp("us", "UTC")),
)
"""Arrow types that have the values of another one."""


def columns_of(struct: Mapping[str, Any]) -> pa.Schema:
    """Return the columns of a type in the JSON form of Spark's StructType.

    All may be NULL, at any depth, but for keys of maps. Metadata that is text stays.

    Raises:
        ValueError: A row has no column of such a type.
    """
    return pa.schema(_fields(struct))


def columns_as_json(columns: Iterable[pa.Field]) -> dict[str, Any]:
    """Return columns as `columns_of` takes them."""
    return {"type": "struct", "fields": [*map(_field_as_json, columns)]}


def row_columns(columns: Iterable[pa.Field]) -> pa.Schema:
    """Return columns that a user wrote in Arrow with the types that columns of rows have.

    Raises:
        ValueError: A row has no column of such a type.
    """
    return pa.schema([*map(_row_field, columns)])


def without_metadata(columns: Iterable[pa.Field]) -> pa.Schema:
    """Return columns without metadata, at any depth."""
    return pa.schema([pa.field(column.name, _plain(column.type)) for column in columns])


def inner_fields(kind: pa.DataType) -> list[pa.Field]:
    """Return the fields of the struct that a type is, or holds in lists and values of maps."""
    while not pa.types.is_struct(kind):
        if pa.types.is_list(kind):
            kind = kind.value_type
        elif pa.types.is_map(kind):
            kind = kind.item_type
        else:
            return []
    return [*kind]


def type_name(kind: pa.DataType) -> str:
    """Return the name of a type in Spark's SQL."""
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_list(kind):
        return f"array<{type_name(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{type_name(kind.key_type)},{type_name(kind.item_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{part.name}:{type_name(part.type)}' for part in kind)}>"
    return _NAMES.get(kind, str(kind))


def no_such_column(name: str) -> ValueError:
    """Return the error that a row has no column of a type."""
    return ValueError(f"a row has no column of type {name}")


def _list(items: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", items))


def _map(keys: pa.DataType, values: pa.DataType) -> pa.DataType:
    return pa.map_(keys, values)


def _decimal(precision: int, scale: int) -> pa.DataType:
    if not 0 < precision <= _DECIMAL_DIGITS:
        raise no_such_column(f"decimal({precision},{scale})")
    return pa.decimal128(precision, scale)


def _fields(struct: Mapping[str, Any]) -> list[pa.Field]:
    return [
        pa.field(one["name"], _of_json(one["type"]), metadata=_texts(one.get("metadata", {})))
        for one in struct["fields"]
    ]


def _texts(metadata: Mapping[str, Any]) -> dict[str, str] | None:
    return {name: text for name, text in metadata.items() if isinstance(text, str)} or None


def _of_json(kind: Any) -> pa.DataType:
    if isinstance(kind, str):
        return _scalar_of_json(kind)
    make = _MAKE.get(kind["type"])
    if make is None:
        raise no_such_column(kind["type"])
    return make(kind)


def _scalar_of_json(name: str) -> pa.DataType:
    found = _DECIMAL.fullmatch(name)
    if found is not None:
        return _decimal(int(found[1]), int(found[2]))
    if name not in _SCALARS:
        raise no_such_column(name)
    return _SCALARS[name][1]


_MAKE: Final[Mapping[str, Callable[[Mapping[str, Any]], pa.DataType]]] = {
    "struct": lambda kind: pa.struct(_fields(kind)),
    "array": lambda kind: _list(_of_json(kind["elementType"])),
    "map": lambda kind: _map(_of_json(kind["keyType"]), _of_json(kind["valueType"])),
}
"""What makes each type that holds others."""

_JSON_NAMES: Final = {kind: name for name, (_, kind) in _SCALARS.items()}


def _field_as_json(field: pa.Field) -> dict[str, Any]:
    metadata = {
        name.decode(errors="replace"): text.decode(errors="replace")
        for name, text in (field.metadata or {}).items()
    }
    kind = _as_json(field.type)
    return {"name": field.name, "type": kind, "nullable": True, "metadata": metadata}


def _as_json(kind: pa.DataType) -> Any:
    if pa.types.is_struct(kind):
        return columns_as_json(kind)
    if pa.types.is_list(kind):
        items = _as_json(kind.value_type)
        return {"type": "array", "elementType": items, "containsNull": True}
    if pa.types.is_map(kind):
        keys, values = _as_json(kind.key_type), _as_json(kind.item_type)
        return {"type": "map", "keyType": keys, "valueType": values, "valueContainsNull": True}
    return _JSON_NAMES.get(kind) or type_name(kind)


def _row_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _row_type(field.type), metadata=field.metadata)


def _row_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _row_type(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([*map(_row_field, kind)])
    if pa.types.is_map(kind):
        return _map(_row_type(kind.key_type), _row_type(kind.item_type))
    if any(is_list(kind) for is_list in _LISTS):
        return _list(_row_type(kind.value_type))
    if pa.types.is_decimal(kind):
        return _decimal(kind.precision, kind.scale)
    found = next((other for is_same, other in _SAME if is_same(kind)), kind)
    if found not in _NAMES:
        raise no_such_column(str(kind))
    return found


_LISTS: Final = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([*without_metadata(kind)])
    if pa.types.is_map(kind):
        return _map(_plain(kind.key_type), _plain(kind.item_type))
    return _list(_plain(kind.value_type)) if pa.types.is_list(kind) else kind
