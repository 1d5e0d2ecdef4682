"""The settings of the Spark session that all tests share."""

from __future__ import annotations

from pathlib import Path

from examples.jars import IN_SPARK, SPARK_DELTA, SPARK_ICEBERG, SPARK_KAFKA, jars

SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension"
    ",org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # short runs are mostly compiling
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""What Delta asks of a session, https://docs.delta.io/latest/quick-start.html, and Iceberg,
https://iceberg.apache.org/docs/latest/spark-getting-started/."""

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings by which Spark interprets plans in place of compiling them."""


def settings(warehouse: Path) -> dict[str, str]:
    """Return the settings of a session for Kafka, Delta and Iceberg, with a folder for tables.

    Raises:
        JarsError: The jars cannot be had.
    """
    connectors = (SPARK_KAFKA, SPARK_DELTA, SPARK_ICEBERG)
    places = {
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.sql.catalog.ice.warehouse": str(warehouse / "ice"),
        "spark.jars": ",".join(str(jar) for jar in jars(*connectors, without=IN_SPARK)),
    }
    return {**SETTINGS, **places}
