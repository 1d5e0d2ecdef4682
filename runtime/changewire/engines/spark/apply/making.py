"""Tables without rows, made or given columns: what table formats share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.frames import local_rows

EXISTS: Final = "TABLE_OR_VIEW_ALREADY_EXISTS"
"""Condition of the error of Spark if a table that is to be made is there."""

_PARTS: Final = re.compile(r"(?:`(?:[^`]|``)*`|[^.`])+")
"""Parts of the name of a table, between dots that are not quoted."""


class Left(NamedTuple):
    """How a table is after this writer is done with it.

    Attributes:
        is_alone: Whether no other writer wrote it.
        version: Its version, as `Delta.version`.
    """

    is_alone: bool
    version: Any


def no_rows(spark: SparkSession, columns: StructType) -> DataFrame:
    """Return a DataFrame without rows.

    Not by `createDataFrame`, which makes the session of a stream's batch the active one for good.
    """
    nothing = F.lit(None)
    fields = columns.fields
    return spark.range(0).select(
        *(nothing.cast(f.dataType).alias(f.name, metadata=f.metadata) for f in fields)
    )


def local_frame(
    spark: SparkSession, rows: Sequence[Mapping[str, Any]], kind: StructType
) -> DataFrame:
    """Return rows of the driver as a DataFrame, which is part of the plans that it is used in.

    Args:
        spark: The session, as `local_rows` takes it.
        rows: Columns by name; one that lacks is NULL, and a map is a list of pairs.
        kind: The columns.
    """
    return local_rows(spark, pa.Table.from_pylist([*rows], pa.schema([*arrow_type(kind)])), kind)


def make_namespace(spark: SparkSession, name: str) -> None:
    """Make the namespace that the name of a table has, if it is not there."""
    namespace = ".".join(_PARTS.findall(name)[:-1])
    if namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")


def make_table(
    spark: SparkSession, name: str, columns: StructType, format: str, properties: Mapping[str, str]
) -> bool:
    """Make a table of a name if it is not there.

    Returns:
        Whether it was made.
    """
    table = no_rows(spark, columns).writeTo(name).using(format)
    for key, value in properties.items():
        table = table.tableProperty(key, value)
    try:
        table.create()
    except AnalysisException as error:
        if error.getCondition() != EXISTS:
            raise
        return False
    return True
