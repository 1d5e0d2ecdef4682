"""Spark types of records, of decoded rows, and of the columns that users give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from changewire.changes.vendors import VendorKeywords
from changewire.engines import layout
from changewire.engines.typed.schemas import RowSchema, options_of_log, schema_columns
from changewire.engines.typed.types import columns_as_json, columns_of
from changewire_messages.change.spark import CHANGE, REJECTION

if TYPE_CHECKING:
    from typing_extensions import Unpack

HEADERS = from_arrow_type(layout.HEADERS)


def _commented(name: str, kind: DataType, comment: str) -> StructField:
    return StructField(name, kind, metadata={"comment": comment})


_COMMENTS: Final = {
    "value": "The message.",
    "key": "The Kafka record key.",
    "topic": "Kafka topic of the record.",
    "partition": "Kafka partition of the record.",
    "offset": "Kafka offset of the record.",
    "timestamp": "Kafka timestamp of the record.",
    "headers": "Kafka headers of the record, in their order.",
    "path": "File that the record was read from.",
    "number": "Number of the record in its file, from 0.",
}

INPUT = StructType(
    [
        _commented(name, from_arrow_type(kind), _COMMENTS[name])
        for name, kind in layout.INPUT_COLUMNS.items()
    ]
)
"""What is decoded."""


def row_type(
    schema: RowSchema,
    *,
    format: str | None = None,
    key_columns: Sequence[str] | None = None,
    **vendor: Unpack[VendorKeywords],
) -> StructType:
    """Return the type of rows that a schema describes, for ``row_schema`` of `decode`.

    The content of a schema says which kind it is: a JSON Schema of the rows (it has ``properties``,
    a ``$ref`` or the type ``object``), and a schema that stands in the messages of a
    format, such as that of Kafka Connect. The metadata of
    the columns remembers which it was, because it decides what a column takes.

    Args:
        schema: The schema: parsed, JSON text, or the path of a file.
        format: Public name of the messages' format; a JSON Schema needs none.
        key_columns: Columns that name the row, as in `decode`.
        **vendor: Options for the messages of one vendor, see `changewire.VendorKeywords`.

    Raises:
        ValueError: It is neither, or describes no row.
        ImportError: It is a JSON Schema, and the extra ``codegen`` is not installed.
        OSError: There is no such file.
    """
    return StructType.fromJson(schema_columns(schema, options_of_log(format, key_columns, vendor)))


def arrow_type(kind: DataType) -> pa.DataType:
    """Return the Arrow type of a Spark type; since 4.2 PySpark asks for a zone."""
    convert: Any = to_arrow_type
    has_zone = "timezone" in signature(convert).parameters
    return convert(kind, timezone="UTC") if has_zone else convert(kind)


def struct_columns(row: StructType) -> pa.Schema:
    """Return the columns of rows as `changewire.engines.typed` takes them, with their metadata."""
    return columns_of(row.jsonValue())


def struct_of(columns: pa.Schema) -> StructType:
    """Return the type of rows that have such columns; all of it may be NULL."""
    return StructType.fromJson(columns_as_json(columns))


def inside(kind: DataType) -> list[tuple[str, DataType]]:
    """Return the parts of a type, by the names that Parquet has for it; nothing for a scalar."""
    if isinstance(kind, StructType):
        return [(field.name, field.dataType) for field in kind.fields]
    if isinstance(kind, ArrayType):
        return [("element", kind.elementType)]
    return [("key", kind.keyType), ("value", kind.valueType)] if isinstance(kind, MapType) else []


def nullable(kind: DataType, scalar: Callable[[DataType], DataType] = lambda kind: kind) -> Any:
    """Return a type in which all but keys of maps may be NULL, with scalars by a function."""
    if isinstance(kind, StructType):
        fields = [(f.name, nullable(f.dataType, scalar), f.metadata) for f in kind.fields]
        return StructType([StructField(n, t, nullable=True, metadata=m) for n, t, m in fields])
    if isinstance(kind, ArrayType):
        return ArrayType(nullable(kind.elementType, scalar))
    if isinstance(kind, MapType):
        return MapType(nullable(kind.keyType, scalar), nullable(kind.valueType, scalar))
    return scalar(kind)


def _nullable(fields: StructType, names: tuple[str, ...]) -> list[StructField]:
    """Return fields that may be NULL: in a decoded row either a change or a rejection is."""
    chosen = [fields[name] for name in names]
    return [StructField(f.name, f.dataType, nullable=True, metadata=f.metadata) for f in chosen]


def _rows(kinds: str, own: list[StructField]) -> StructType:
    """Return the type of decoded rows, with the columns of other elements than dead letters."""
    elements = "Elements of the message, in its first element; else 0."
    leniencies = "Leniencies that the element needed."
    return StructType(
        [
            _commented("kind", StringType(), kinds),
            _commented("element", IntegerType(), "Index of the element in its message."),
            _commented("elements", IntegerType(), elements),
            _commented("leniencies", ArrayType(StringType()), leniencies),
            *own,
            *_nullable(REJECTION, layout.REJECTION_COLUMNS),
            _commented("record_key", BinaryType(), "The Kafka record key."),
            _commented("value", BinaryType(), "The message, of a dead letter only."),
            *(INPUT[name] for name in layout.RECORD_COLUMNS),
        ]
    )


_OF_CHANGE: Final = [
    *_nullable(CHANGE, layout.CHANGE_COLUMNS),
    _commented(
        layout.EFFECT,
        StringType(),
        "Effect of the change on its row: full, patch, keys, delete, before or none.",
    ),
    _commented(
        layout.DECLARED,
        StringType(),
        "Names and types of the columns that the message's schema declares, JSON text.",
    ),
]

ROWS: Final = _rows("change, control or dead_letter.", _OF_CHANGE)
"""Decoded rows, as `changewire.engines.decode` makes them."""


def typed_schema(row: StructType) -> StructType:
    """Return the type of decoded rows whose `before` and `after` have a type."""
    typed = {
        name: StructField(name, row, metadata=ROWS[name].metadata) for name in ("before", "after")
    }
    return StructType([typed.get(field.name, field) for field in ROWS.fields])


def message_rows(message: StructType) -> StructType:
    """Return the type of the rows that `changewire.engines.messages` makes."""
    variant = "Variant of the message; NULL for a record without value."
    content = "The message; NULL for a record without value and a batch without elements."
    own = [_commented("variant", StringType(), variant), _commented("content", message, content)]
    return _rows("message or dead_letter.", own)
