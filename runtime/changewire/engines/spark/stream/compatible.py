"""Whether an output that is there can take the rows of a query."""

from __future__ import annotations

from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from changewire.engines.errors import OutputError
from changewire.engines.spark.raised import RAISED
from changewire.engines.spark.stream.output import BATCH, QUERY, Output
from changewire.engines.spark.types import differing
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


def check_output(spark: SparkSession, sink: str, output: Output, rows: StructType) -> None:
    """Reject an output that is there and lacks a column of the rows, or has it of another type.

    Columns that the rows lack stay NULL.

    Raises:
        OutputError: The output has another schema, or Spark does not know its format.
    """
    found = schema_of(spark, sink, output)
    if found is None:
        return
    if sink == "parquet" and not {QUERY, BATCH} <= set(found.names):
        raise OutputError(
            f"{output.name}: {output.target} holds files that no stream wrote; choose another place"
        )
    for name, kind, has in differing(found, rows):
        raise OutputError(
            f"{output.name}: the rows have a column {name} of type {kind}, and {output.target} "
            f"{has}; change it, or choose another place and checkpoint"
        )


def schema_of(spark: SparkSession, sink: str, output: Output) -> StructType | None:
    """Return the schema of an output; None if there is nothing yet."""
    try:
        if output.is_path or sink == "parquet":
            return spark.read.format(sink).load(output.target).schema
        if spark.catalog.tableExists(output.target):
            return spark.table(output.target).schema
        if sink == "iceberg":  # Spark looks no further than a name, whatever the format
            spark.read.format(sink).load(output.target)
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
