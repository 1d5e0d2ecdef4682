"""Jars that Spark loads for Kafka and Delta, where an installation keeps them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from changewire.cli.checks.finding import Finding, Status
from changewire.cli.checks.packages import PYSPARK, installed
from changewire.tested import RELEASES, line, ran_with

_KINDS: Final = (
    ("Kafka connector", "Kafka in Spark", "kafka", r"spark-sql-kafka-0-10_2\.13-([\d.]+)\.jar"),
    ("Delta", "Delta in Spark", "delta", r"delta-spark_(?:[\d.]+_)?2\.13-([\d.]+)\.jar"),
    ("Iceberg", "Iceberg in Spark", "iceberg", r"iceberg-spark-runtime-[\d.]+_2\.13-([\d.]+)\.jar"),
)
"""Name, what needs it, its column in the table of tested versions, and names of its jar."""


def jars() -> list[Finding]:
    """Look for the jars of the installed PySpark; without it there are none to look for.

    They are looked for where Spark loads all jars from, and where ``--packages`` keeps them. A
    session may have them from elsewhere, so no exit code depends on them.
    """
    pyspark = installed(PYSPARK)
    return [] if pyspark is None else [_jar(pyspark, *kind) for kind in _KINDS]


def is_in_spark(connector: str) -> bool:
    """Tell whether the folder from which Spark loads all jars has a connector."""
    (pattern,) = [pattern for _, _, column, pattern in _KINDS if column == connector]
    return bool(_versions(re.compile(pattern), [spark_home() / "jars"]))


def has_been_fetched(coordinates: str) -> bool:
    """Tell whether ``--packages`` fetched an artifact before."""
    name = f"{'-'.join(coordinates.replace(':', '_', 1).split(':'))}.jar"
    return any((folder / name).is_file() for folder in _fetched())


def spark_home() -> Path:
    """Return the folder of the Spark that a command would start."""
    home = os.environ.get("SPARK_HOME")
    spec = find_spec(PYSPARK)
    if home or spec is None or spec.origin is None:
        return Path(home or os.curdir)
    return Path(spec.origin).parent


def _jar(pyspark: str, name: str, needed_for: str, column: str, pattern: str) -> Finding:
    tested = ran_with(pyspark)
    wanted: str | None = getattr(tested, column, None)
    folders = [spark_home() / "jars", *_fetched()]
    found = sorted(_versions(re.compile(rf"(?:.+_)?{pattern}"), folders))
    status: Status = "untested" if found else "missing"
    advice = f"start Spark with --packages {wanted}"
    if wanted is None:
        advice = f"none was run with Spark {line(pyspark)}: see {RELEASES[column]}"
    elif wanted.rpartition(":")[2] in found:
        status, advice = "ok", ""
    return Finding(
        name=name,
        status=status,
        found=", ".join(found) or None,
        needed_for=needed_for,
        advice=advice,
    )


def _versions(pattern: re.Pattern[str], folders: Iterable[Path]) -> set[str]:
    """Return the versions of the jars whose name has a pattern."""
    names = (path.name for folder in folders if folder.is_dir() for path in folder.iterdir())
    return {match[1] for match in map(pattern.fullmatch, names) if match}


def _fetched() -> Iterator[Path]:
    """Yield the folders of what ``--packages`` fetched before."""
    yield from Path.home().glob(".ivy2*/jars")  # 4.0 and newer call it .ivy2.5.2
