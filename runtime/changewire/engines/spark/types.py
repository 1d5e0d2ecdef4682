"""Spark types of records and of decoded rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from changewire.engines.layout import CHANGE_COLUMNS, REJECTION_COLUMNS
from changewire_messages.change.spark import CHANGE, REJECTION

_IMAGES: Final = frozenset({"before", "after"})

HEADERS = ArrayType(
    StructType([StructField("key", StringType()), StructField("value", BinaryType())])
)


def _commented(name: str, kind: DataType, comment: str) -> StructField:
    return StructField(name, kind, metadata={"comment": comment})


RECORD_FIELDS = [
    _commented("topic", StringType(), "Kafka topic of the record."),
    _commented("partition", IntegerType(), "Kafka partition of the record."),
    _commented("offset", LongType(), "Kafka offset of the record."),
    _commented("timestamp", TimestampType(), "Kafka timestamp of the record."),
    _commented("headers", HEADERS, "Kafka headers of the record, in their order."),
    _commented("path", StringType(), "File that the record was read from."),
    _commented("number", LongType(), "Number of the record in its file, from 0."),
]
"""Where a record stood."""

INPUT = StructType(
    [
        _commented("value", BinaryType(), "The message."),
        _commented("key", BinaryType(), "The Kafka record key."),
        *RECORD_FIELDS,
    ]
)
"""What is decoded."""


def inside(kind: DataType) -> list[tuple[str, DataType]]:
    """Return what a type holds, by the names that Parquet has for it; nothing for a scalar."""
    if isinstance(kind, StructType):
        return [(field.name, field.dataType) for field in kind.fields]
    if isinstance(kind, ArrayType):
        return [("element", kind.elementType)]
    return [("key", kind.keyType), ("value", kind.valueType)] if isinstance(kind, MapType) else []


def _as_it_is(kind: DataType) -> DataType:
    return kind


def nullable(kind: DataType, scalar: Callable[[DataType], DataType] = _as_it_is) -> Any:
    """Return a type in which everything may be NULL, at any depth, but for keys of maps.

    Spark takes the word of what it is given for a column that may not: a row without the value
    would end the job.

    Args:
        kind: The type.
        scalar: Returns what stands in place of a type that holds no others.
    """
    if isinstance(kind, StructType):
        fields = [(f.name, nullable(f.dataType, scalar), f.metadata) for f in kind.fields]
        return StructType([StructField(n, t, nullable=True, metadata=m) for n, t, m in fields])
    if isinstance(kind, ArrayType):
        return ArrayType(nullable(kind.elementType, scalar))
    if isinstance(kind, MapType):
        return MapType(nullable(kind.keyType, scalar), nullable(kind.valueType, scalar))
    return scalar(kind)


def differing(found: StructType, needed: StructType) -> Iterator[tuple[str, str, str]]:
    """Yield columns that are not as they are needed: name, needed type, and what is there instead.

    Args:
        found: Columns of a table.
        needed: Some of them; whether they may be NULL is not compared.
    """
    there = {field.name: field.dataType.simpleString() for field in found.fields}
    for field in needed.fields:
        name, kind = field.name, field.dataType.simpleString()
        if there.get(name) != kind:
            yield name, kind, f"has {there[name]}" if name in there else "lacks it"


def _nullable(fields: StructType, names: tuple[str, ...]) -> list[StructField]:
    """Return fields that may be NULL: in a decoded row either a change or a rejection is."""
    chosen = [fields[name] for name in names]
    return [StructField(f.name, f.dataType, nullable=True, metadata=f.metadata) for f in chosen]


def _rows(kinds: str, own: list[StructField]) -> StructType:
    """Return the type of decoded rows, with the columns of what is no dead letter."""
    return StructType(
        [
            _commented("kind", StringType(), kinds),
            _commented("element", IntegerType(), "Index of the element in its message."),
            _commented(
                "elements", IntegerType(), "Elements of the message, in its first element; else 0."
            ),
            _commented(
                "leniencies", ArrayType(StringType()), "Leniencies that the element needed."
            ),
            *own,
            *_nullable(REJECTION, REJECTION_COLUMNS),
            _commented("record_key", BinaryType(), "The Kafka record key."),
            _commented("value", BinaryType(), "The message, of a dead letter only."),
            *RECORD_FIELDS,
        ]
    )


ROWS = _rows("change, control or dead_letter.", _nullable(CHANGE, CHANGE_COLUMNS))
"""Decoded rows, as `changewire.engines.decode` makes them."""


def typed_schema(row: StructType) -> StructType:
    """Return the type of decoded rows whose `before` and `after` have a type."""
    return StructType(
        [
            StructField(field.name, row, metadata=field.metadata)
            if field.name in _IMAGES
            else field
            for field in ROWS.fields
        ]
    )


def message_rows(message: StructType) -> StructType:
    """Return the type of the rows that `changewire.engines.messages` makes."""
    variant = "Variant of the message; NULL for a record without value."
    content = "The message; NULL for a record without value and a batch without elements."
    own = [_commented("variant", StringType(), variant), _commented("content", message, content)]
    return _rows("message or dead_letter.", own)
