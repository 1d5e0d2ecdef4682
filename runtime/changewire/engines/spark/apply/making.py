"""Tables without rows, made or given columns: what table formats share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

_EXISTS: Final = "TABLE_OR_VIEW_ALREADY_EXISTS"
_PARTS: Final = re.compile(r"(?:`(?:[^`]|``)*`|[^.`])+")
"""Parts of the name of a table, between dots that are not quoted."""


def no_rows(spark: SparkSession, columns: StructType) -> DataFrame:
    """Return a DataFrame without rows.

    Not by `createDataFrame`, which makes the session of a stream's batch the active one for good.
    """
    nothing = F.lit(None)
    fields = columns.fields
    return spark.range(0).select(
        *(nothing.cast(f.dataType).alias(f.name, metadata=f.metadata) for f in fields)
    )


def make_table(
    spark: SparkSession, name: str, columns: StructType, format: str, properties: Mapping[str, str]
) -> None:
    """Make a table of a name, and the namespace that the name has, if they are not there."""
    namespace = ".".join(_PARTS.findall(name)[:-1])
    if namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
    table = no_rows(spark, columns).writeTo(name).using(format)
    for key, value in properties.items():
        table = table.tableProperty(key, value)
    try:
        table.create()
    except AnalysisException as error:
        if error.getCondition() != _EXISTS:
            raise
