"""What differs between table formats: how a table is named, made and merged into."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.spark.parts import quoted
from changewire.engines.spark.stream.output import Output
from changewire.tables.names import is_path

_EXISTS: Final = "TABLE_OR_VIEW_ALREADY_EXISTS"
_PARTS: Final = re.compile(r"(?:`(?:[^`]|``)*`|[^.`])+")
"""Parts of the name of a table, between dots that are not quoted."""

_UNSAFE: Final = re.compile(r"[ ,;{}()\n\t=]")


class TableFormat(Protocol):
    """A table format.

    Attributes:
        conflict: What the text of an error has if another writer came first.
    """

    conflict: re.Pattern[str]

    def identifier(self, name: str) -> str:
        """Return a table, a path or a name, as SQL names it."""
        ...

    def create(self, spark: SparkSession, name: str, columns: StructType) -> None:
        """Make a table if it is not there, and the namespace of its name."""
        ...

    def evolve(self, spark: SparkSession, name: str, columns: StructType) -> None:
        """Add columns to a table, and widen its types."""
        ...

    def merge(self, spark: SparkSession, statement: str, source: DataFrame) -> int:
        """Run a MERGE from ``{source}``; return how many rows it inserted, updated and deleted."""
        ...


class Delta:
    """Delta Lake: https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge."""

    conflict = re.compile(
        r"DELTA_CONCURRENT_|Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception"
        r"|DELTA_(METADATA|PROTOCOL)_CHANGED|(Metadata|Protocol)ChangedException"
    )
    _properties: Final[Mapping[str, str]] = {"delta.enableTypeWidening": "true"}
    _any_names: Final[Mapping[str, str]] = {"delta.columnMapping.mode": "name"}

    def identifier(self, name: str) -> str:
        """Return a table, a path or a name, as SQL names it."""
        return f"delta.{quoted(name)}" if is_path(name) else name

    def create(self, spark: SparkSession, name: str, columns: StructType) -> None:
        """Make a table if it is not there, and the namespace of its name."""
        empty = no_rows(spark, columns)
        properties = {**self._properties, **(self._any_names if _is_unsafe(columns) else {})}
        if is_path(name):
            empty.write.format("delta").mode("ignore").options(**properties).save(name)
            return
        create_namespace(spark, name)
        table = empty.writeTo(name).using("delta")
        for key, value in properties.items():
            table = table.tableProperty(key, value)
        try:
            table.create()
        except AnalysisException as error:
            if error.getCondition() != _EXISTS:
                raise

    def evolve(self, spark: SparkSession, name: str, columns: StructType) -> None:
        """Add columns to a table, and widen its types."""
        if _is_unsafe(columns):
            pairs = ", ".join(f"'{key}' = '{value}'" for key, value in self._any_names.items())
            table = self.identifier(name)
            spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({pairs})")
        writer = no_rows(spark, columns).write.format("delta").mode("append")
        Output("table", name).save(writer.option("mergeSchema", "true"))

    def merge(self, spark: SparkSession, statement: str, source: DataFrame) -> int:
        """Run a MERGE from ``{source}``; return how many rows it inserted, updated and deleted."""
        return int(spark.sql(statement, source=source).collect()[0]["num_affected_rows"])


_FORMATS: Final[Mapping[str, TableFormat]] = {"delta": Delta()}


def format_of(sink: str) -> TableFormat:
    """Return a table format that a stream can merge into, by its name.

    Raises:
        ValueError: There is no such format.
    """
    if sink not in _FORMATS:
        raise ValueError(f"no table format {sink!r}; there are: {', '.join(_FORMATS)}")
    return _FORMATS[sink]


def _is_unsafe(columns: StructType) -> bool:
    """Whether Parquet, and so Delta without column mapping, refuses the name of a column."""
    return any(
        _UNSAFE.search(field.name) is not None
        or (isinstance(field.dataType, StructType) and _is_unsafe(field.dataType))
        for field in columns.fields
    )


def no_rows(spark: SparkSession, columns: StructType) -> DataFrame:
    """Return a DataFrame without rows.

    Not by `createDataFrame`, which makes the session of a stream's batch the active one for good.
    """
    nothing = F.lit(None)
    fields = columns.fields
    return spark.range(0).select(
        *(nothing.cast(f.dataType).alias(f.name, metadata=f.metadata) for f in fields)
    )


def create_namespace(spark: SparkSession, name: str) -> None:
    """Make the namespace that a table's name has, if it has one."""
    namespace = ".".join(_PARTS.findall(name)[:-1])
    if namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
