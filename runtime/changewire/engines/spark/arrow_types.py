"""Spark types as Arrow types, whichever PySpark is at hand."""

from __future__ import annotations

from inspect import signature
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType, StructType

from changewire.engines.typed.types import columns_of

_ZONE: Final = "timezone"


def arrow_type(kind: DataType) -> pa.DataType:
    """Return the Arrow type of a Spark type; times are in UTC.

    PySpark 4.2 asks for the zone that 4.0 and 4.1 take for granted.
    """
    convert: Any = to_arrow_type
    return convert(kind, **({_ZONE: "UTC"} if _ZONE in signature(convert).parameters else {}))


def row_columns(row: StructType) -> pa.Schema:
    """Return the columns of rows as `changewire.engines.typed` takes them, with their metadata.

    Raises:
        ValueError: A row has no column of such a type.
    """
    return columns_of(row.jsonValue())
