"""The settings of the Spark session that all tests share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
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

# Plans of thousands of queries fill Spark's own 1 GB, and then a quarter of the time goes to
# collecting garbage. What is young may fill 600 MB: nearly all of it is garbage by then.
QUICK: Final = {
    # Where Hadoop has no native library, it calls `chmod` and `readlink` for each file.
    "spark.driver.extraJavaOptions": f"{JAVA} -Xmn600m -Djdk.lang.Process.launchMechanism=VFORK",
    "spark.driver.memory": "2g",
    "spark.databricks.delta.snapshotPartitions": "1",  # a task of each look at a table's log
}

SPARING: Final = {
    # One task at a time, and few: each reads its whole plan anew, which takes longer than its rows.
    "spark.master": "local[1]",
    "spark.sql.shuffle.partitions": "1",
    # VACUUM lists folders by so many tasks, by default 10,000.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
    # No checksums of logs and checkpoints: each is one more file to create and to rename.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
    # No stack trace of each column and each RDD for messages of errors.
    "spark.sql.dataFrameQueryContext.enabled": "false",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # No texts of plans, and little of past queries, for pages that are not shown.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
}
"""What the session of the tests does without; jobs that are killed or measured do not."""

INTERPRETED: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.databricks.delta.stats.skipping": "false",
}
"""Settings by which Spark interprets plans instead of compiling them, plans once, and reads every
file of a table instead of asking which it needs: quicker for few rows."""

COMPILED: Final = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.databricks.delta.stats.skipping": "true",
}
"""The same settings as Spark and Delta have them by default."""


@contextmanager
def known_names() -> Generator[None, None, None]:
    """Let Python ask the JVM once what a name is.

    PySpark asks for the same few classes in every call, and Java looks through all jars for those
    whose package PySpark leaves out.
    """
    from py4j.java_gateway import JavaPackage, JVMView

    with pytest.MonkeyPatch.context() as patch:
        for kind in (JavaPackage, JVMView):
            patch.setattr(kind, "__getattr__", cache(kind.__getattr__))
        yield


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
