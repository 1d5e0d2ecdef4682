"""Jars are fetched once, and where they cannot be had a sentence says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples import jars as subject
from examples.jars import JarsError, jars, spark_jars


def test_jars_of_an_artifact_come_with_what_it_depends_on() -> None:
    """The connector comes with the Kafka client, without what Spark has itself."""
    names = [path.name for path in spark_jars("kafka")]
    assert "spark-sql-kafka-0-10_2.13-4.0.0.jar" in names
    assert any(name.startswith("kafka-clients-") for name in names)
    assert not any(name.startswith(("hadoop", "scala-library", "slf4j")) for name in names)


def test_jars_are_fetched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jars in the cache need no repository."""
    found = spark_jars("kafka")
    monkeypatch.setattr(subject, "REPOSITORY", "http://127.0.0.1:9/")
    assert spark_jars("kafka") == found


def test_jars_that_cannot_be_had_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the repository the error names the artifact and the repository."""
    monkeypatch.setattr(subject, "CACHE", tmp_path)
    monkeypatch.setattr(subject, "REPOSITORY", "http://127.0.0.1:9/")
    with pytest.raises(JarsError, match=r"^the jars of a:b:1 could not be had from http://127"):
        jars("a:b:1")
    assert not list(tmp_path.glob("*.classpath"))


def test_java_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without Java the error says what is needed."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JarsError, match=r"^Java 17 or newer is needed"):
        subject.java()


@pytest.mark.parametrize(
    ("pyspark", "text"),
    [
        ("4.2.0", r"^no iceberg was run with PySpark 4\.2\.0: see docs/reference/versions\.md$"),
        (
            "4.9.1",
            r"^no connectors were run with PySpark 4\.9\.1: see docs/reference/versions\.md$",
        ),
    ],
)
def test_connectors_that_were_not_run_are_refused(
    monkeypatch: pytest.MonkeyPatch, pyspark: str, text: str
) -> None:
    """The error names the connector and the PySpark that is installed."""
    monkeypatch.setattr(subject, "version", {"pyspark": pyspark}.__getitem__)
    with pytest.raises(JarsError, match=text):
        spark_jars("delta", "iceberg")
