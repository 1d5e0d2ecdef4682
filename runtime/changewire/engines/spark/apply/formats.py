"""What differs between table formats: how a table is named, made and merged into."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

_EXISTS: Final = "TABLE_OR_VIEW_ALREADY_EXISTS"
_PARTS: Final = re.compile(r"(?:`(?:[^`]|``)*`|[^.`])+")
"""Parts of the name of a table, between dots that are not quoted."""


class TableFormat(Protocol):
    """A table format.

    Attributes:
        conflict: What the text of an error has if another writer came first.
    """

    conflict: re.Pattern[str]

    def identifier(self, name: str, *, is_path: bool) -> str:
        """Return a table, a path or a name, as SQL names it."""

    def create(self, spark: SparkSession, name: str, columns: StructType, *, is_path: bool) -> None:
        """Make a table if it is not there, and the namespace of its name."""

    def merge(self, spark: SparkSession, statement: str, source: DataFrame) -> int:
        """Run a MERGE from ``{source}``; return how many rows it inserted, updated and deleted."""


class Delta:
    """Delta Lake: https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge."""

    conflict = re.compile(
        r"DELTA_CONCURRENT_|Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception"
        r"|DELTA_(METADATA|PROTOCOL)_CHANGED|(Metadata|Protocol)ChangedException"
    )
    _properties: Final[Mapping[str, str]] = {"delta.enableTypeWidening": "true"}

    def identifier(self, name: str, *, is_path: bool) -> str:
        """Return a table, a path or a name, as SQL names it."""
        return f"delta.`{name.replace('`', '``')}`" if is_path else name

    def create(self, spark: SparkSession, name: str, columns: StructType, *, is_path: bool) -> None:
        """Make a table if it is not there, and the namespace of its name."""
        empty = spark.createDataFrame([], columns)
        if is_path:
            writer = empty.write.format("delta").mode("ignore").options(**self._properties)
            writer.save(name)
            return
        create_namespace(spark, name)
        table = empty.writeTo(name).using("delta")
        for key, value in self._properties.items():
            table = table.tableProperty(key, value)
        try:
            table.create()
        except AnalysisException as error:
            if error.getCondition() != _EXISTS:
                raise

    def merge(self, spark: SparkSession, statement: str, source: DataFrame) -> int:
        """Run a MERGE from ``{source}``; return how many rows it inserted, updated and deleted."""
        return int(spark.sql(statement, source=source).collect()[0]["num_affected_rows"])


FORMATS: Final[Mapping[str, TableFormat]] = {"delta": Delta()}
"""Table formats that a stream can merge into."""


def create_namespace(spark: SparkSession, name: str) -> None:
    """Make the namespace that a table's name has, if it has one."""
    namespace = ".".join(_PARTS.findall(name)[:-1])
    if namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
