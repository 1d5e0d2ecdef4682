"""The settings of the Spark session that all tests share."""

from __future__ import annotations

from pathlib import Path

from tests.support.jars import IN_SPARK, SPARK_DELTA, SPARK_KAFKA, jars

SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # short runs are mostly compiling
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""What Delta asks of a session, https://docs.delta.io/latest/quick-start.html, and few tasks for
small tables."""


def settings(warehouse: Path) -> dict[str, str]:
    """Return the settings of a session that knows Kafka and Delta, with a folder for its tables.

    Raises:
        JarsError: The jars cannot be had.
    """
    found = ",".join(str(jar) for jar in jars(SPARK_KAFKA, SPARK_DELTA, without=IN_SPARK))
    return {**SETTINGS, "spark.sql.warehouse.dir": str(warehouse), "spark.jars": found}
