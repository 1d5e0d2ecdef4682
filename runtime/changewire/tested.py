"""Versions that were run together: one table for error texts, ``doctor`` and the docs."""

import re
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


_JARS: Final = {
    "kafka": re.compile(r"spark-sql-kafka-0-10_2\.13[:-](?P<version>\d+\.\d+)[\w.-]*"),
    "delta": re.compile(
        r"delta-spark_(?:(?P<line>\d+\.\d+)_)?2\.13[:-](?P<version>\d+\.\d+)[\w.-]*"
    ),
    "iceberg": re.compile(r"iceberg-spark-runtime-(?P<line>\d+\.\d+)_2\.13[:-][\w.-]+"),
}
"""Connectors in coordinates and in names of files, by the names of `Release`."""


def line(version: str) -> str:
    """Return the line of releases that a version is of: 4.0 for 4.0.1."""
    return ".".join(version.split(".")[:2])


def ran_with(pyspark: str) -> Release | None:
    """Return what was run with a PySpark of the same line; None where nothing was."""
    return next((row for row in TESTED if line(row.pyspark) == line(pyspark)), None)


def with_all_connectors() -> Release:
    """Return the newest release with which Kafka, Delta and Iceberg were run."""
    return [row for row in TESTED if row.kafka and row.delta and row.iceberg][-1]


def misfit(pyspark: str, jars: str) -> str | None:
    """Return a sentence on the first connector that is for another Spark; None without one.

    Args:
        pyspark: Version of Spark.
        jars: Coordinates or paths of jars, with commas between them. Those that do not say which
            Spark they are for, in a way that is known, are taken to fit.
    """
    for name, pattern in _JARS.items():
        for jar in pattern.finditer(jars):
            fits = _line_of(name, jar)
            if fits not in {None, line(pyspark)}:
                return f"{jar[0]} is for Spark {fits}, and this is Spark {pyspark}: " + " or ".join(
                    _ways(name, pyspark, str(fits))
                )
    return None


def _line_of(name: str, jar: re.Match[str]) -> str | None:
    """Return the line of Spark that a connector is for; None if it is not known."""
    found = jar.groupdict()
    if found.get("line") or name == "kafka":
        return found.get("line") or found["version"]
    rows = [row for row in TESTED if (row.delta or "").startswith("io.delta:delta-spark_2.13:")]
    lines = {line((row.delta or "").rpartition(":")[2]): line(row.pyspark) for row in rows}
    return lines.get(found["version"])


def _ways(name: str, pyspark: str, fits: str) -> list[str]:
    """Return what makes a connector and Spark fit, as clauses."""
    own: str | None = getattr(ran_with(pyspark), name, None)
    other = ran_with(fits)
    found = [] if own is None else [f"take {own}"]
    found += [] if other is None else [f'pip install "pyspark=={other.pyspark}"']
    return found or [f"see {RELEASES[name]}"]
