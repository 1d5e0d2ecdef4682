"""The settings of the Spark session that all tests share."""

from __future__ import annotations

from pathlib import Path

from tests.support.jars import IN_SPARK, SPARK_DELTA, jars

SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""What Delta asks of a session: https://docs.delta.io/latest/quick-start.html"""


def submit_args(warehouse: Path) -> str:
    """Return `PYSPARK_SUBMIT_ARGS` that give a session Delta, and a folder for its tables.

    Raises:
        JarsError: The jars cannot be had.
    """
    settings = {**SETTINGS, "spark.sql.warehouse.dir": str(warehouse)}
    options = [f"--conf {name}={value}" for name, value in settings.items()]
    found = ",".join(str(jar) for jar in jars(SPARK_DELTA, without=IN_SPARK))
    return f"--jars {found} {' '.join(options)} pyspark-shell"
