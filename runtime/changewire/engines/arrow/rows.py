"""Rows as columns of a type, which only PySpark's types can say so far; they need no JVM."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from changewire.changes.reading import Reading
from changewire.engines.decode import Decoder

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

RowsAs: TypeAlias = str | bytes | os.PathLike[str] | Mapping[str, Any] | Any
"""``json``, a `pyarrow.Schema` or struct type, a StructType of PySpark, or a schema of the row."""


def decoder_of(rows: RowsAs, reading: Reading) -> Decoder:
    """Return what decodes into rows as asked for.

    Raises:
        ValueError: `rows` is nothing that rows can be.
        TypeError: A column is of a type that Spark does not know.
        ImportError: PySpark, or for a JSON Schema the extra ``codegen``, is not installed.
    """
    if isinstance(rows, str) and rows == "json":
        return Decoder(reading)
    if isinstance(rows, str) and rows == "variant":
        raise ValueError("rows='variant' is for Spark: Arrow has no type that it would be")
    try:
        from changewire.engines.spark.decode import struct_of
        from changewire.engines.spark.typed import TypedDecoder
    except ImportError as error:
        text = 'typed rows need PySpark, but no Java: pip install "changewire[spark]"'
        raise ImportError(text) from error
    is_arrow = isinstance(rows, (pa.Schema, pa.StructType))
    return TypedDecoder(reading, struct_of(_spark_type(rows) if is_arrow else rows, reading))


def _spark_type(columns: pa.Schema | pa.StructType) -> StructType:
    """Return the type with columns of Arrow; their metadata stays."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    return StructType(
        [
            StructField(field.name, from_arrow_type(field.type), metadata=_metadata(field))
            for field in columns
        ]
    )


def _metadata(field: pa.Field) -> dict[str, str]:
    return {name.decode(): text.decode() for name, text in (field.metadata or {}).items()}
