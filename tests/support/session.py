"""The settings of the Spark session that all tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from examples.jars import CONNECTORS, JAVA, release, spark_jars

EXTENSIONS: Final = "spark.sql.extensions"

SETTINGS: Final = {
    "delta": {
        EXTENSIONS: "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    "iceberg": {
        EXTENSIONS: "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
    },
}
"""What Delta asks of a session, https://docs.delta.io/latest/quick-start.html, and Iceberg,
https://iceberg.apache.org/docs/latest/spark-getting-started/."""

QUICK: Final = {"spark.driver.extraJavaOptions": JAVA}

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings by which Spark interprets plans in place of compiling them."""


def settings(warehouse: Path) -> dict[str, str]:
    """Return the settings of a session with a folder for tables, and all connectors.

    These are the connectors that `changewire.tested` has for the PySpark that is installed.

    Raises:
        JarsError: The jars cannot be had.
    """
    names = [name for name in CONNECTORS if getattr(release(), name) is not None]
    asked = [SETTINGS[name] for name in names if name in SETTINGS]
    extensions = ",".join(one[EXTENSIONS] for one in asked)
    found = {key: value for one in asked for key, value in one.items()}
    if names:
        found[EXTENSIONS] = extensions
        found["spark.jars"] = ",".join(str(jar) for jar in spark_jars(*names))
    if "iceberg" in names:
        found["spark.sql.catalog.ice.warehouse"] = str(warehouse / "ice")
    return {**found, **QUICK, "spark.sql.warehouse.dir": str(warehouse)}


def need(connector: str) -> None:
    """Skip a test whose connector was not run with the PySpark that is installed."""
    if connector in CONNECTORS and getattr(release(), connector) is None:
        pytest.skip(f"no {connector} was run with PySpark {release().pyspark}")
