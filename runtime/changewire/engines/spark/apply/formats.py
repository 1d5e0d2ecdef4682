"""What differs between table formats: how a table is named, made and versioned."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
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

    def version(self, spark: SparkSession, identifier: str) -> int:
        """Return the version of a table; each commit makes another."""

    def marked(self, spark: SparkSession, mark: str) -> AbstractContextManager[None]:
        """Return a context in which commits carry a mark."""

    def has_others(self, spark: SparkSession, identifier: str, version: int, mark: str) -> bool:
        """Whether a table has commits after a version that do not carry a mark."""


class Delta:
    """Delta Lake: https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge."""

    conflict = re.compile(
        r"DELTA_CONCURRENT_|Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception"
        r"|DELTA_(METADATA|PROTOCOL)_CHANGED|(Metadata|Protocol)ChangedException"
    )
    _user_metadata: Final = "spark.databricks.delta.commitInfo.userMetadata"
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

    def version(self, spark: SparkSession, identifier: str) -> int:
        """Return the version of a table; each commit makes another."""
        history = spark.sql(f"DESCRIBE HISTORY {identifier} LIMIT 1")
        return int(history.select("version").collect()[0][0])

    @contextmanager
    def marked(self, spark: SparkSession, mark: str) -> Generator[None, None, None]:
        """Return a context in which commits carry a mark."""
        spark.conf.set(self._user_metadata, mark)
        try:
            yield
        finally:
            spark.conf.unset(self._user_metadata)

    def has_others(self, spark: SparkSession, identifier: str, version: int, mark: str) -> bool:
        """Whether a table has commits after a version that do not carry a mark."""
        history = spark.sql(f"DESCRIBE HISTORY {identifier}").where(F.col("version") > version)
        return not history.where(~F.col("userMetadata").eqNullSafe(mark)).isEmpty()


FORMATS: Final[Mapping[str, TableFormat]] = {"delta": Delta()}
"""Table formats that a stream can merge into."""


def create_namespace(spark: SparkSession, name: str) -> None:
    """Make the namespace that a table's name has, if it has one."""
    namespace = ".".join(_PARTS.findall(name)[:-1])
    if namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
