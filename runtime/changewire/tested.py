"""Versions that were run together: one table for error texts, ``doctor`` and the docs."""

from typing import Final, NamedTuple


class Release(NamedTuple):
    """A release of PySpark and what was run with it.

    Attributes:
        pyspark: The release.
        kafka: Maven coordinates of its Kafka connector; None where none was run.
        delta: Maven coordinates of Delta; None where none was run.
        iceberg: Maven coordinates of Iceberg; None where none was run.
        note: What else there is to know; empty where nothing is.
        token_provider: Maven coordinates of the jar that the Kafka connector takes tokens from,
            where it was not that of the connector's own version.
    """

    pyspark: str
    kafka: str | None
    delta: str | None
    iceberg: str | None
    note: str = ""
    token_provider: str | None = None


TESTED: Final = (
    Release(
        "4.0.1",
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
        "io.delta:delta-spark_2.13:4.0.1",
        "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
        "what all tests run on",
    ),
    Release(
        "4.2.0",
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "io.delta:delta-spark_4.2_2.13:4.4.0",
        None,
        "the connector ran with spark-token-provider-kafka-0-10_2.13:4.0.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    ),
    Release("4.3.0", None, None, None, "decoding files"),
)
"""From old to new."""

RELEASES: Final = {
    "kafka": "https://spark.apache.org/docs/latest/structured-streaming-kafka-integration.html",
    "iceberg": "https://iceberg.apache.org/multi-engine-support/",
    "delta": "https://docs.delta.io/latest/releases.html",
}
"""Where to read which release of a connector fits which Spark, by the names of `Release`."""

PYTHONS: Final = ("3.10", "3.11", "3.12", "3.13")
JAVAS: Final = (17,)


def line(version: str) -> str:
    """Return the line of releases that a version is of: 4.0 for 4.0.1."""
    return ".".join(version.split(".")[:2])


def ran_with(pyspark: str) -> Release | None:
    """Return what was run with a PySpark of the same line; None where nothing was."""
    return next((row for row in TESTED if line(row.pyspark) == line(pyspark)), None)
