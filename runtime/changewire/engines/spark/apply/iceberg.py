"""Apache Iceberg: https://iceberg.apache.org/docs/latest/spark-writes/#merge-into."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Final, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ByteType,
    DataType,
    DecimalType,
    IntegerType,
    ShortType,
    StructType,
)

from changewire.engines.retries import WriteConflictError
from changewire.engines.spark.apply.making import Left, make_namespace, make_table, no_rows
from changewire.engines.spark.apply.properties import set_properties
from changewire.engines.spark.jvm import MetadataVersion, metadata_version
from changewire.engines.spark.types import inside, nullable

_ANY_SCHEMA: Final = "write.spark.accept-any-schema"
"""Property without which Spark refuses rows whose columns are not those of the table."""


class Iceberg:
    """Tables of Apache Iceberg, by the names that a catalog gives them; see also `Delta`.

    https://iceberg.apache.org/docs/latest/spark-configuration/#catalogs
    """

    name = "iceberg"
    takes_paths = False
    conflict = re.compile(
        r"CommitFailedException|CommitStateUnknownException|Found (new )?conflicting"
        r"|Cannot commit, missing data files"
    )

    def identifier(self, name: str) -> str:
        """Return a table's name."""
        return name

    def kept(self, columns: StructType) -> StructType:
        """Return columns as Iceberg has them: integers of 8 and 16 bits have 32."""
        return cast("StructType", nullable(columns, _kept))

    def fault(self, columns: StructType) -> str | None:
        """Return why a table cannot have some columns; None if it can.

        Parquet files of Iceberg have no empty names, and Iceberg finds columns by the path of their
        names, joined by dots.
        """
        found = [*_paths(columns)]
        if any(not name for _, name in found):
            return "a column without a name cannot be in a table of Iceberg"
        paths = Counter(path for path, _ in found)
        path, number = max(paths.items(), key=itemgetter(1), default=("", 0))
        return f"two columns have the path {path!r}" if number > 1 else None

    def widens(self, there: DataType, wider: DataType) -> bool:
        """Whether a column's type can become a wider one: the scale of decimals stays.

        https://iceberg.apache.org/spec/#schema-evolution
        """
        if isinstance(there, DecimalType) and isinstance(wider, DecimalType):
            return there.scale == wider.scale
        return True

    def create(
        self, spark: SparkSession, name: str, columns: StructType, properties: Mapping[str, str]
    ) -> bool:
        """Make a table if it is not there, and the namespace of its name; return if it was made."""
        make_namespace(spark, name)
        return make_table(spark, name, columns, self.name, properties)

    def evolve(self, spark: SparkSession, name: str, columns: StructType) -> None:
        """Add columns to a table, and widen its types."""
        # Only for this write: Spark does not align the columns of a MERGE while it is set.
        set_properties(spark, name, {_ANY_SCHEMA: "true"})
        try:
            writer = no_rows(spark, columns).writeTo(name).option("mergeSchema", "true")
            writer.option("check-ordering", "false").append()
        finally:
            spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('{_ANY_SCHEMA}')")

    def refresh(self, spark: SparkSession, table: str) -> None:
        """Forget the snapshot that the session's catalog keeps for a while."""
        spark.catalog.refreshTable(table)

    def version(self, spark: SparkSession, table: str) -> MetadataVersion:
        """Return the version that the table has now, which its properties are part of."""
        return metadata_version(spark, table) or _version(spark, table)

    def size(self, spark: SparkSession, table: str) -> int | None:
        """Return how many bytes the files of a table have; None if that is not known."""
        found = metadata_version(spark, table)
        return None if found is None else found.size

    def is_first(self, version: MetadataVersion) -> bool:
        """Whether a table has had no snapshot since it was made."""
        return version.snapshot is None

    def left(self, spark: SparkSession, table: str, since: MetadataVersion, *, wrote: bool) -> Left:
        """Return whether no other writer wrote a table since a version."""
        self.refresh(spark, table)
        now = self.version(spark, table)
        is_next = wrote and now.before == since.file
        return Left(is_next or now == since, now)

    def merge(self, source: DataFrame, table: str, statement: str, since: MetadataVersion) -> None:
        """Run a MERGE, which does not say how many rows it changed.

        Raises:
            WriteConflictError: Its version is not the next one after that which was decided on.
        """
        source.sparkSession.sql(statement, source=source)
        if not self.left(source.sparkSession, table, since, wrote=True).is_alone:
            raise WriteConflictError


def _version(spark: SparkSession, table: str) -> MetadataVersion:
    """Return the version of a table as its metadata tables have it.

    https://iceberg.apache.org/docs/latest/spark-queries/#metadata-log-entries
    """
    entries = spark.sql(
        f"SELECT file, latest_snapshot_id FROM {table}.metadata_log_entries"  # noqa: S608 - quoted
    ).collect()
    *earlier, now = entries
    before = earlier[-1]["file"] if earlier else None
    return MetadataVersion(now["file"], before, now["latest_snapshot_id"], None)


def _paths(kind: DataType, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and name of each column and field of a type, as Iceberg has them."""
    for name, part in inside(kind):
        path = f"{above}.{name}" if above else name
        yield path, name
        yield from _paths(part, path)


def _kept(kind: DataType) -> DataType:
    return IntegerType() if isinstance(kind, (ByteType, ShortType)) else kind
