"""Spark types of the column ``_changewire``, and of what a merge reads and writes."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from changewire.engines.spark.apply.effects import SEQUENCE
from changewire.tables.metadata import COLUMN

ORDER_FIELDS: Final = [
    StructField("sequence", SEQUENCE),
    StructField("topic", StringType()),
    StructField("partition", IntegerType()),
    StructField("offset", LongType()),
    StructField("element", IntegerType()),
]

_ORDER: Final = StructType(ORDER_FIELDS)

METADATA: Final = StructType(
    [
        *ORDER_FIELDS,
        StructField("columns", MapType(StringType(), _ORDER)),
        StructField("floor", _ORDER),
        StructField("version", IntegerType()),
    ]
)
"""Type of `COLUMN`, as `changewire.tables.metadata_of` fills it."""

TOMBSTONES: Final = StructType(
    [
        StructField("key", StringType()),
        StructField(COLUMN, METADATA),
        StructField("since", TimestampType()),
    ]
)
"""Columns of a table of tombstones: the key as JSON text, its delete, and when that was written."""
