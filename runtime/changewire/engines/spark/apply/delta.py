"""Delta Lake: https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import DataType, StructType, TimestampNTZType

from changewire.engines.spark.apply.making import (
    EXISTS,
    Left,
    make_namespace,
    make_table,
    no_rows,
)
from changewire.engines.spark.apply.properties import set_properties
from changewire.engines.spark.jvm import LogVersion, create_delta, log_size, log_version
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.stream.output import Output
from changewire.engines.spark.types import inside
from changewire.engines.typed.json_types import has_unsafe_names
from changewire.tables.names import is_path

_WIDER: Final[Mapping[str, str]] = {"delta.enableTypeWidening": "true"}
_ANY_NAMES: Final[Mapping[str, str]] = {
    "delta.columnMapping.mode": "name",
    # With no other feature Delta keeps an old protocol, by which deltalake finds NULL in columns.
    **_WIDER,
}
_CLOCKS: Final[Mapping[str, str]] = {"delta.feature.timestampNtz": "supported"}
"""A new table with times without a zone gets it by itself, one that is there does not."""

_LOOKED_AT: Final = 4
"""Commits that are looked at: one of a merge, and some that tables make by themselves after it."""

_MOVES: Final = frozenset({"OPTIMIZE", "VACUUM START", "VACUUM END"})


class Delta:
    """Tables of Delta Lake, by path or by name. `Iceberg` has the same attributes and methods.

    Attributes:
        name: The format as Spark names it.
        takes_paths: Whether a table may be a path, without a catalog that names it.
        conflict: What the text of an error has if another writer came first.
    """

    name = "delta"
    takes_paths = True
    conflict = re.compile(
        r"DELTA_CONCURRENT_|Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception"
        r"|DELTA_(METADATA|PROTOCOL)_CHANGED|(Metadata|Protocol)ChangedException"
    )

    def identifier(self, name: str) -> str:
        """Return a table, a path or a name, as SQL names it."""
        return f"delta.{quoted(name)}" if is_path(name) else name

    def kept(self, columns: StructType) -> StructType:
        """Return columns as they are: Delta has all types of Spark that rows have."""
        return columns

    def fault(self, columns: StructType) -> str | None:  # noqa: ARG002 - it takes any name
        """Return why a table cannot have some columns; None if it can."""
        return None

    def widens(self, there: DataType, wider: DataType) -> bool:  # noqa: ARG002 - it widens all
        """Whether a column's type can become another one, which holds all of its values."""
        return True

    def create(
        self, spark: SparkSession, name: str, columns: StructType, properties: Mapping[str, str]
    ) -> bool:
        """Make a table if it is not there, and the namespace of its name.

        Args:
            spark: The session.
            name: Path or name of the table.
            columns: Its columns.
            properties: Its properties. A table of a path gets only those of Delta if Delta's
                builder cannot make it.

        Returns:
            Whether it was made, so that it has no rows; `False` if that is not known.
        """
        given = {**properties, **(_ANY_NAMES if has_unsafe_names(columns.jsonValue()) else {})}
        table = self.identifier(name)
        if not is_path(name):
            make_namespace(spark, name)
        try:
            if create_delta(spark, table, columns, given):
                return True
        except AnalysisException as error:
            if error.getCondition() != EXISTS:
                raise
            if log_version(spark, table) is not None:
                return False
        if not is_path(name):
            return make_table(spark, name, columns, self.name, given)
        # Also where a folder holds files of a commit that did not come to its end.
        writer = no_rows(spark, columns).write.format(self.name).mode("ignore")
        writer.options(**given).save(name)
        return False

    def evolve(self, spark: SparkSession, name: str, columns: StructType) -> None:
        """Add columns to a table, and widen its types.

        Features that keep other readers away are switched on only where they are needed.
        """
        table = self.identifier(name)
        needed = {
            **(_ANY_NAMES if has_unsafe_names(columns.jsonValue()) else {}),
            **(_WIDER if _is_wider(columns, spark.table(table).schema) else {}),
            **(_CLOCKS if _has_clocks(columns) else {}),
        }
        if needed:
            set_properties(spark, table, needed)
        writer = no_rows(spark, columns).write.format(self.name).mode("append")
        Output("table", name).save(writer.option("mergeSchema", "true"))

    def refresh(self, spark: SparkSession, table: str) -> None:
        """Let the next query read what other sessions have written: every query does."""

    def version(self, spark: SparkSession, table: str) -> LogVersion:
        """Return the version of a table, which its columns and properties are part of.

        It shows later whether the table is still as it was.
        """
        return log_version(spark, table) or _version(_history(spark, table, 1)[0])

    def size(self, spark: SparkSession, table: str) -> int | None:
        """Return how many bytes the files of a table have, 0 without it; None if not known."""
        return log_size(spark, table)

    def is_first(self, version: LogVersion) -> bool:
        """Whether a table has had no commit since it was made."""
        return version.number == 0

    def left(self, spark: SparkSession, table: str, since: LogVersion, *, wrote: bool) -> Left:
        """Return whether no other writer wrote a table since a version.

        What moves rows to other files, as some tables do by themselves, changes none.

        Args:
            spark: The session.
            table: The table, as SQL names it.
            since: The version.
            wrote: Whether one commit since then is this writer's own.
        """
        now = self.version(spark, table)
        if now.number == since.number + wrote:
            return Left(is_alone=True, version=now)
        commits = _history(spark, table, _LOOKED_AT)
        oldest = int(commits[-1]["version"])
        newer = (row for row in commits if since.number < row["version"] <= now.number)
        writes = sum(row["operation"] not in _MOVES for row in newer)
        return Left(writes == wrote and oldest <= since.number + 1, now)

    def merge(self, source: DataFrame, table: str, statement: str, since: Any) -> int:
        """Run a MERGE from ``{source}``; return how many rows it changed.

        Args:
            source: What is merged.
            table: The table, as SQL names it.
            statement: The MERGE.
            since: Version of the table that it was decided on.
        """
        del table, since
        done = source.sparkSession.sql(statement, source=source).collect()
        return int(done[0]["num_affected_rows"])


def _has_clocks(kind: DataType) -> bool:
    """Whether a type holds times without a zone, at any depth."""
    return isinstance(kind, TimestampNTZType) or any(_has_clocks(part) for _, part in inside(kind))


def _version(commit: Row) -> LogVersion:
    """Return the version of a commit; its time stands for the id of its table."""
    return LogVersion(int(commit["version"]), str(commit["timestamp"]))


def _history(spark: SparkSession, table: str, limit: int) -> list[Row]:
    """Return the newest commits of a table."""
    return spark.sql(f"DESCRIBE HISTORY {table} LIMIT {limit}").collect()


def _is_wider(columns: StructType, there: StructType) -> bool:
    """Whether a column has another type than in the table that is there."""
    known = {field.name: field.dataType.simpleString() for field in there.fields}
    return any(known.get(f.name, "") not in {"", f.dataType.simpleString()} for f in columns.fields)
