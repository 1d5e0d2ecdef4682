"""Place of a log, a path or a table; its content; and how rows are appended to it once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.errors import OutputError
from changewire.engines.log import ADDED, STATISTICS, STATISTICS_OPTION
from changewire.engines.options import LOG_FORMATS
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.python import check_python
from changewire.engines.spark.session import TIMES, changed
from changewire.engines.typed.types import differing
from changewire.tables.names import is_path
from changewire.tested import RELEASES, ran_with

_NOT_THERE: Final = frozenset(
    {
        "PATH_NOT_FOUND",
        "UNABLE_TO_INFER_SCHEMA",  # a folder without files
        "DELTA_MISSING_DELTA_TABLE",
        "DELTA_PATH_DOES_NOT_EXIST",
        "DELTA_SCHEMA_NOT_SET",
        "DELTA_TABLE_NOT_FOUND",
        "TABLE_OR_VIEW_NOT_FOUND",
    }
)
_NO_FORMAT: Final = "DATA_SOURCE_NOT_FOUND"

SETTINGS: Final = {
    # https://docs.delta.io/latest/quick-start.html
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    # beside a catalog: https://iceberg.apache.org/docs/latest/spark-configuration/
    "iceberg": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    },
}
"""What table formats ask of a session."""

STREAMED: Final = {
    # https://docs.delta.io/latest/delta-streaming.html#ignore-updates-and-deletes
    "delta": {"skipChangeCommits": "true", "maxBytesPerTrigger": "1g"},
    # https://iceberg.apache.org/docs/latest/spark-structured-streaming/#streaming-reads
    "iceberg": {
        "streaming-skip-delete-snapshots": "true",
        "streaming-skip-overwrite-snapshots": "true",
    },
}
"""How the new rows of a log are read: what removes or writes rows again is passed over."""


@dataclass(frozen=True)
class LogPlace:
    """A log.

    Attributes:
        target: Its path, which has a slash, or the name of a table.
        table_format: Its format: ``delta``, ``iceberg`` or ``parquet``.
    """

    target: str
    table_format: str = "delta"

    @property
    def is_path(self) -> bool:
        """Whether the target is a path."""
        return is_path(self.target)

    def schema(self, spark: SparkSession) -> StructType | None:
        """Return the columns that it has; None if it is missing."""
        return existing_schema(spark, self.table_format, self.target)

    def check(self, spark: SparkSession, columns: StructType) -> bool:
        """Check that it can take rows if it exists, and return whether it does."""
        if self.table_format not in LOG_FORMATS:
            raise ValueError(
                f"no table_format {self.table_format!r}; there are: {', '.join(LOG_FORMATS)}"
            )
        found = self.schema(spark)
        needed = columns.jsonValue()
        if found is not None and "op" in found.names:
            found = self._evolved(spark, found)
        for name, kind, has in differing(found.jsonValue(), needed) if found is not None else ():
            raise OutputError(
                f"log: a column {name} of type {kind} is needed, and {self.target} {has}; choose "
                "another log and checkpoint"
            )
        return found is not None

    def _evolved(self, spark: SparkSession, found: StructType) -> StructType:
        """Add the columns that a log of an earlier version lacks, and return its columns."""
        lacking = [name for name in ADDED if name not in found.names]
        if not lacking:
            return found
        if self.table_format != "parquet":
            table = f"delta.{quoted(self.target)}" if self.is_path else self.target
            columns = ", ".join(f"{quoted(name)} STRING" for name in lacking)
            spark.sql(f"ALTER TABLE {table} ADD COLUMNS ({columns})")
        return StructType([*found.fields, *(StructField(name, StringType()) for name in lacking)])

    def read(self, spark: SparkSession) -> DataFrame:
        """Return its rows, which workers in Python may read; columns of `ADDED` may be NULL."""
        check_python(spark)
        if self.is_path:
            return completed(spark.read.format(self.table_format).load(self.target))
        if self.table_format == "iceberg":  # its catalog keeps a snapshot for a while
            spark.catalog.refreshTable(self.target)
        return completed(spark.table(self.target))

    def stream(self, spark: SparkSession) -> DataFrame:
        """Return the rows that it has and those to come, as a stream."""
        check_python(spark)
        reader = spark.readStream.format(self.table_format).options(**STREAMED[self.table_format])
        return completed(reader.load(self.target) if self.is_path else reader.table(self.target))

    def is_cut(self, spark: SparkSession) -> bool:
        """Whether a new stream would lack rows: snapshots expired, and Iceberg starts behind them.

        Its source reads what each snapshot since the oldest one appended.
        """
        if self.table_format != "iceberg":
            return False
        spark.catalog.refreshTable(self.target)
        refs, snapshots = (spark.table(f"{self.target}.{name}") for name in ("refs", "snapshots"))
        parents = {one["snapshot_id"]: one["parent_id"] for one in snapshots.collect()}
        at = next((one["snapshot_id"] for one in refs.where("name = 'main'").collect()), None)
        while at in parents:
            at = parents[at]
        return at is not None

    def create(self, spark: SparkSession, columns: StructType) -> None:
        """Make it, or check that it can take rows of some columns."""
        if not self.check(spark, columns):
            self.add(spark.createDataFrame([], columns))

    def add(self, rows: DataFrame, options: dict[str, str] | None = None) -> None:
        """Append rows in one commit, with options of the format."""
        writer = rows.write.format(self.table_format).mode("append")
        writer = writer.options(**self.options(rows), **(options or {}))
        with changed(rows.sparkSession, TIMES):
            writer.save(self.target) if self.is_path else writer.saveAsTable(self.target)

    def append(self, rows: DataFrame, query: str, batch: int) -> None:
        """Append rows in one commit; nothing if it has the batch of the query already.

        Delta skips a transaction that its log has, Iceberg keeps properties of each snapshot:
        https://docs.delta.io/latest/delta-streaming.html#idempotent-table-writes-in-foreachbatch
        https://iceberg.apache.org/docs/latest/spark-configuration/#write-options
        """
        if self.table_format == "delta":
            self.add(rows, {"txnAppId": f"changewire-{query}", "txnVersion": str(batch)})
            return
        spark, name = rows.sparkSession, f"changewire.{query}"
        if spark.catalog.tableExists(self.target):
            spark.catalog.refreshTable(self.target)
            found = spark.sql(f"SELECT summary FROM {self.target}.snapshots")  # noqa: S608 - as in SQL
            if not found.where(F.col("summary")[name] == str(batch)).isEmpty():
                return
        self.add(rows, {f"snapshot-property.{name}": str(batch)})

    def options(self, rows: DataFrame) -> dict[str, str]:
        """Return the options of a write that may make a log of some rows."""
        if self.table_format != "delta":
            return {}
        names = (name for name in STATISTICS if name.partition(".")[0] in rows.columns)
        return {STATISTICS_OPTION: ",".join(names)}


def completed(rows: DataFrame) -> DataFrame:
    """Return rows of a log with the columns of `ADDED`, NULL in logs of earlier versions."""
    lacking = [name for name in ADDED if name not in rows.columns]
    if "content" in rows.columns or not lacking:  # Spark Connect refuses to add no column
        return rows
    return rows.withColumns({name: F.lit(None).cast("string") for name in lacking})


def existing_schema(spark: SparkSession, table_format: str, target: str) -> StructType | None:
    """Return the schema of a table, by its path or name; None if it does not exist."""
    try:
        if is_path(target) or table_format == "parquet":
            return spark.read.format(table_format).load(target).schema
        if spark.catalog.tableExists(target):
            return spark.table(target).schema
        if table_format == "iceberg":  # Spark looks no further than a name, whatever the format
            spark.read.format(table_format).load(target)
    except RAISED as error:
        # Some versions of Spark lack a word of their own for a format that is not there.
        if _NO_FORMAT in str(error):
            raise OutputError(lack(spark.version, table_format)) from None
        condition = error.getCondition() if isinstance(error, AnalysisException) else None
        if condition not in _NOT_THERE:
            raise
    return None


def lack(version: str, table_format: str) -> str:
    """Return what to do if a version of Spark does not know a format."""
    package: str | None = getattr(ran_with(version), table_format, None)
    text = f"Spark {version} does not know the format {table_format}"
    if table_format not in SETTINGS:
        return text
    if package is None:
        return f"{text}; which release of it runs with it is listed at {RELEASES[table_format]}"
    settings = " ".join(f"--conf {name}={value}" for name, value in SETTINGS[table_format].items())
    return f"{text}; start it with --packages {package} {settings}"
