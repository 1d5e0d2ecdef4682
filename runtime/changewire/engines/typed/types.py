"""Types of columns: in Arrow, in the JSON form of Spark's StructType, and in SQL.

Delta's log has the JSON form too. A table may have columns of types that rows of messages never
have; the JSON form has them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa

StructJson: TypeAlias = Mapping[str, Any]
"""A struct: its ``fields`` have ``name``, ``type``, ``nullable`` and ``metadata``."""

_SCALARS: Final[Mapping[str, pa.DataType]] = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
"""Arrow's type for each scalar type of a row, by its name in JSON."""

_JSON_NAMES: Final = {kind: name for name, kind in _SCALARS.items()}
_SQL_NAMES: Final = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
"""Names in SQL of those types that have another one in JSON."""

DECIMAL: Final = re.compile(r"decimal\((\d+), ?(-?\d+)\)")
MOST_DIGITS: Final = 38
"""Of Spark's decimals."""

_UNSAFE: Final = re.compile(r"[ ,;{}()\n\t=]")

_SAME: Final = (
    (re.compile(r"large_string"), "string"),
    (re.compile(r"large_binary|fixed_size_binary\[\d+\]"), "binary"),
    (re.compile(r"timestamp\[\w+\]"), "timestamp_ntz"),
    (re.compile(r"timestamp\[\w+, tz=.+\]"), "timestamp"),
)
"""Arrow's names of types that have the values of another one."""

_LISTS: Final = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def columns_of(struct: StructJson) -> pa.Schema:
    """Return columns that may all be NULL, at any depth; metadata that is text stays."""
    return pa.schema(_fields(struct))


def columns_as_json(columns: Iterable[pa.Field]) -> dict[str, Any]:
    """Return columns as `columns_of` takes them."""
    return struct_json([*map(field_as_json, columns)])


def row_columns(columns: Iterable[pa.Field]) -> pa.Schema:
    """Return columns that a user wrote in Arrow with the types that columns of rows have."""
    return columns_of(columns_as_json(columns))


def without_metadata(columns: Iterable[pa.Field]) -> pa.Schema:
    """Return columns without metadata, at any depth."""
    return pa.schema([pa.field(column.name, _plain(column.type)) for column in columns])


def type_name(kind: pa.DataType) -> str:
    """Return the name of an Arrow type in Spark's SQL."""
    return sql_name(_as_json(kind))


def no_such_column(name: str) -> ValueError:
    """Return the error that a row has no column of a type."""
    return ValueError(f"a row has no column of type {name}")


def struct_json(fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the struct of some fields, in the JSON form."""
    return {"type": "struct", "fields": [*fields]}


def field_json(name: str, kind: Any, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a field, which may be NULL, in the JSON form."""
    return {"name": name, "type": kind, "nullable": True, "metadata": dict(metadata or {})}


def parts(kind: Any) -> list[tuple[str, Any]]:
    """Return the parts of a type in JSON, by the names that Parquet has for it."""
    if isinstance(kind, str):
        return []
    if kind["type"] == "struct":
        return [(field["name"], field["type"]) for field in kind["fields"]]
    if kind["type"] == "array":
        return [("element", kind["elementType"])]
    return [("key", kind["keyType"]), ("value", kind["valueType"])] if kind["type"] == "map" else []


def sql_name(kind: Any) -> str:
    """Return the name of a type in JSON in Spark's SQL."""
    if isinstance(kind, str):
        return _SQL_NAMES.get(kind, kind)
    inner = [(name, sql_name(part)) for name, part in parts(kind)]
    if kind["type"] == "struct":
        return f"struct<{','.join(f'{name}:{text}' for name, text in inner)}>"
    return f"{kind['type']}<{','.join(text for _, text in inner)}>" if inner else str(kind["type"])


def differing(found: StructJson, needed: StructJson) -> Iterator[tuple[str, str, str]]:
    """Yield columns of a table that are not as needed: name, needed type, and the found one."""
    there, wanted = (
        {one["name"]: sql_name(one["type"]) for one in struct["fields"]}
        for struct in (found, needed)
    )
    for name, kind in wanted.items():
        if there.get(name) != kind:
            yield name, kind, f"has {there[name]}" if name in there else "lacks it"


def has_unsafe_names(kind: Any) -> bool:
    """Whether Parquet, and so Delta without column mapping, refuses a name inside of a type."""
    return any(
        _UNSAFE.search(name) is not None or has_unsafe_names(part) for name, part in parts(kind)
    )


def _fields(struct: StructJson) -> list[pa.Field]:
    return [
        pa.field(one["name"], _of_column(one), metadata=_texts(one.get("metadata", {})))
        for one in struct["fields"]
    ]


def _of_column(column: Mapping[str, Any]) -> pa.DataType:
    try:
        return _of_json(column["type"])
    except ValueError as error:
        raise ValueError(f"column {column['name']!r}: {error}") from None


def _texts(metadata: Mapping[str, Any]) -> dict[str, str] | None:
    return {name: text for name, text in metadata.items() if isinstance(text, str)} or None


def _of_json(kind: Any) -> pa.DataType:
    if isinstance(kind, str):
        return _scalar_of_json(kind)
    if kind["type"] == "struct":
        return pa.struct(_fields(kind))
    inner = [_of_json(part) for _, part in parts(kind)]
    if not inner:
        raise no_such_column(kind["type"])
    return _list(*inner) if kind["type"] == "array" else pa.map_(*inner)


def _scalar_of_json(name: str) -> pa.DataType:
    if (found := DECIMAL.fullmatch(name)) is not None:
        precision, scale = int(found[1]), int(found[2])
        if not 0 <= scale <= precision <= MOST_DIGITS or precision == 0:
            text = f"expected 1 to {MOST_DIGITS} digits of a decimal, with those after the dot"
            raise ValueError(f"{text}: {no_such_column(name)}")
        return pa.decimal128(precision, scale)
    same = next((other for known, other in _SAME if known.fullmatch(name)), name)
    if same not in _SCALARS:
        raise no_such_column(name)
    return _SCALARS[same]


def _list(items: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", items))


def field_as_json(field: pa.Field) -> dict[str, Any]:
    """Return a column in the JSON form of a StructType."""
    texts = (
        (name.decode(errors="replace"), text.decode(errors="replace"))
        for name, text in (field.metadata or {}).items()
    )
    return field_json(field.name, _as_json(field.type), dict(texts))


def _as_json(kind: pa.DataType) -> Any:
    """Return a type in JSON; the name that Arrow has for a type that a row has no column of."""
    if pa.types.is_dictionary(kind):
        return _as_json(kind.value_type)
    if pa.types.is_struct(kind):
        return columns_as_json(kind)
    if pa.types.is_map(kind):
        keys, values = _as_json(kind.key_type), _as_json(kind.item_type)
        return {"type": "map", "keyType": keys, "valueType": values, "valueContainsNull": True}
    if any(is_list(kind) for is_list in _LISTS):
        items = _as_json(kind.value_type)
        return {"type": "array", "elementType": items, "containsNull": True}
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return _JSON_NAMES.get(kind) or str(kind)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([*without_metadata(kind)])
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    return _list(_plain(kind.value_type)) if pa.types.is_list(kind) else kind
