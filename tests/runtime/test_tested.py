"""The table of versions that were run together is what the tests run on, and what the docs show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomli
from packaging.requirements import Requirement

from changewire.tested import (
    JAVAS,
    PYTHONS,
    TESTED,
    Release,
    line,
    misfit,
    ran_with,
    with_all_connectors,
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT.joinpath("docs", "reference", "versions.md").read_text(encoding="utf-8")
PYPROJECT = tomli.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))


def test_the_releases_of_the_table_are_those_that_are_installed() -> None:
    """All tests have the first; each other has a file of what differs, and a line of the matrix."""
    pins = [ROOT / "constraints" / f"spark-{line(row.pyspark)}.txt" for row in TESTED[1:]]
    assert sorted(ROOT.glob("constraints/spark-*.txt")) == pins
    for row, file in zip(TESTED, [ROOT / "constraints" / "dev.txt", *pins], strict=True):
        assert f"\npyspark=={row.pyspark} \\\n" in file.read_text(encoding="utf-8")


def test_a_token_provider_of_another_version_is_told() -> None:
    """The note of a release names the jar that takes the place of the connector's own."""
    for row in TESTED:
        _, _, name = (row.token_provider or "").partition(":")
        assert name in row.note


def test_the_page_shows_the_table() -> None:
    """The page has a row for each release, with the same coordinates and notes."""
    rows = [f"| {row.pyspark} | {jars(row)} | {row.note} |" for row in TESTED]
    assert re.findall(r"^\| \d.+$", PAGE, re.MULTILINE) == rows
    assert f"Python {PYTHONS[0]} to {PYTHONS[-1]}" in PAGE
    assert f"Java {' and '.join(map(str, JAVAS))}" in PAGE


def jars(row: Release) -> str:
    """Return the coordinates of a row as cells."""
    found = (row.kafka, row.delta, row.iceberg)
    return " | ".join(f"`{coordinates}`" if coordinates else "not run" for coordinates in found)


def test_pythons_are_those_of_the_package() -> None:
    """What the index shows as supported is what the table names."""
    prefix = "Programming Language :: Python :: 3."
    found = [c.rpartition(" ")[2] for c in PYPROJECT["project"]["classifiers"] if prefix in c]
    assert tuple(found) == PYTHONS


PLACES = ("*.md", "docs/**/*.md", "docs/making/*.py", "examples/**/*.py", "examples/*.md")
COORDINATES = re.compile(
    r"(?:org\.apache\.spark:spark-sql-kafka|io\.delta:delta-spark|org\.apache\.iceberg:iceberg-spark)"
    r"[\w.-]*:[\w.]+"
)


def test_pages_and_examples_name_the_tested_connectors() -> None:
    """No page names a connector in a version that was not run with its Spark."""
    tested = {jar for row in TESTED for jar in (row.kafka, row.delta, row.iceberg) if jar}
    files = [
        path for pattern in PLACES for path in ROOT.glob(pattern) if "_build" not in path.parts
    ]
    named = {
        (path.name, jar)
        for path in files
        for jar in COORDINATES.findall(path.read_text(encoding="utf-8"))
    }
    assert len({name for name, _ in named}) > 2
    assert {jar for _, jar in named} <= tested


def test_pages_name_packages_by_one_option() -> None:
    """A page that lets the environment name them would hide that the command has an option."""
    files = [path for pattern in PLACES[:2] for path in ROOT.glob(pattern)]
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    assert [n for n, text in texts.items() if "PYSPARK_SUBMIT_ARGS=" in text] == []


@pytest.mark.parametrize(
    ("pyspark", "delta"),
    [
        ("4.0.9", "io.delta:delta-spark_2.13:4.0.1"),
        ("4.2.0", "io.delta:delta-spark_4.2_2.13:4.4.0"),
        ("4.20.0", None),
        ("4", None),
    ],
)
def test_a_release_stands_for_its_line(pyspark: str, delta: str | None) -> None:
    """What was run with 4.0.1 is the advice for every 4.0."""
    row = ran_with(pyspark)
    assert (row.delta if row else None) == delta


def test_the_extra_takes_the_line_on_which_all_connectors_run() -> None:
    """What pip installs with the extra is no newer than the newest line that has all three."""
    (required,) = [
        requirement
        for requirement in PYPROJECT["project"]["optional-dependencies"]["spark"]
        if requirement.startswith("pyspark")
    ]
    newest = with_all_connectors()
    assert None not in {newest.kafka, newest.delta, newest.iceberg}
    allowed = Requirement(required).specifier
    assert allowed.contains(newest.pyspark)
    later = [row.pyspark for row in TESTED[TESTED.index(newest) + 1 :]]
    assert later
    assert not [version for version in (*later, "4.1.0") if allowed.contains(version)]


@pytest.mark.parametrize("row", TESTED, ids=lambda row: row.pyspark)
def test_connectors_fit_the_spark_with_which_they_ran(row: Release) -> None:
    """Each row of the table fits itself, as coordinates and as names of files."""
    coordinates = [jar for jar in (row.kafka, row.delta, row.iceberg) if jar]
    assert misfit(row.pyspark, ",".join(coordinates)) is None
    files = ["/jars/" + jar.replace(":", "_", 1).replace(":", "-") + ".jar" for jar in coordinates]
    assert misfit(row.pyspark, ",".join(files)) is None


@pytest.mark.parametrize(
    ("pyspark", "jars", "sentence"),
    [
        (
            "4.3.0",
            "io.delta:delta-spark_2.13:4.0.1",
            (
                "delta-spark_2.13:4.0.1 is for Spark 4.0, and this is Spark 4.3.0: "
                'pip install "pyspark==4.0.1"'
            ),
        ),
        (
            "4.2.0",
            "a:b:1,/home/me/io.delta_delta-spark_2.13-4.0.0.jar",
            (
                "delta-spark_2.13-4.0.0.jar is for Spark 4.0, and this is Spark 4.2.0: take "
                'io.delta:delta-spark_4.2_2.13:4.4.0 or pip install "pyspark==4.0.1"'
            ),
        ),
        (
            "4.0.1",
            "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
            (
                "spark-sql-kafka-0-10_2.13:4.2.0 is for Spark 4.2, and this is Spark 4.0.1: take "
                "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0 or "
                'pip install "pyspark==4.2.0"'
            ),
        ),
        (
            "4.3.0",
            "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
            (
                "iceberg-spark-runtime-4.1_2.13:1.11.0 is for Spark 4.1, and this is Spark "
                "4.3.0: see https://iceberg.apache.org/multi-engine-support/"
            ),
        ),
        ("4.3.0", "org.example:delta-sharing-spark_2.13:1.0,io.delta:delta-spark_2.13:9.9.0", None),
    ],
)
def test_a_connector_for_another_spark_is_named(
    pyspark: str, jars: str, sentence: str | None
) -> None:
    """One sentence says which versions fit; what is not known is taken to fit."""
    assert misfit(pyspark, jars) == sentence
