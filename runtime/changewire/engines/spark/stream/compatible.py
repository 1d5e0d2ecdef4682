"""What table formats ask of a session, and which columns a table has."""

from __future__ import annotations

from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from changewire.engines.errors import OutputError
from changewire.engines.spark.raised import RAISED
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


def schema_of(spark: SparkSession, sink: str, target: str) -> StructType | None:
    """Return the schema of a table, by its path or name; None if it does not exist."""
    try:
        if is_path(target) or sink == "parquet":
            return spark.read.format(sink).load(target).schema
        if spark.catalog.tableExists(target):
            return spark.table(target).schema
        if sink == "iceberg":  # Spark looks no further than a name, whatever the format
            spark.read.format(sink).load(target)
    except RAISED as error:
        # Some versions of Spark lack a word of their own for a format that is not there.
        if _NO_FORMAT in str(error):
            raise OutputError(lack(spark.version, sink)) from None
        condition = error.getCondition() if isinstance(error, AnalysisException) else None
        if condition not in _NOT_THERE:
            raise
    return None


def lack(version: str, sink: str) -> str:
    """Return what to do if a version of Spark does not know a format."""
    tested = ran_with(version)
    package: str | None = getattr(tested, sink, None)
    text = f"Spark {version} does not know the format {sink}"
    if sink not in SETTINGS:
        return text
    if package is None:
        return f"{text}; which release of it runs with it is listed at {RELEASES[sink]}"
    settings = " ".join(f"--conf {name}={value}" for name, value in SETTINGS[sink].items())
    return f"{text}; start it with --packages {package} {settings}"
