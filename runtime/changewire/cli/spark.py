"""Spark as a command starts it: the jars that it has or fetches, and what it logs."""

import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from changewire.cli.findings import PYSPARK, Finding, Status, installed
from changewire.cli.stderr import notice
from changewire.engines.errors import JobError
from changewire.tested import RELEASES, Release, line, ran_with, with_all_connectors

_KINDS: Final = {
    "kafka": ("Kafka connector", "Kafka in Spark", r"spark-sql-kafka-0-10_2\.13-([\d.]+)\.jar"),
    "delta": ("Delta", "Delta in Spark", r"delta-spark_(?:[\d.]+_)?2\.13-([\d.]+)\.jar"),
    "iceberg": ("Iceberg", "Iceberg in Spark", r"iceberg-spark-runtime-[\d.]+_2\.13-([\d.]+)\.jar"),
}
"""By column of the table of tested versions: name, what needs it, and names of its jar."""

_OF_USERS: Final = re.compile(r"--packages|--jars|--driver-class-path|\bspark\.jars|extraClassPath")
"""Options and settings by which users bring jars themselves."""

PRINTED: Final = "spark.log"
"""File in an output folder that has what Spark printed, such as which jars it fetched."""

_WITH_VALUES: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Loggers by which PySpark writes errors of a query to standard error, with values of rows."""


def jars() -> list[Finding]:
    """Look for the jars of the installed PySpark, if it is installed.

    The folders are the one from which Spark loads all jars, and those of ``--packages``. A session
    may have them from elsewhere, so no exit code depends on them.
    """
    pyspark = installed(PYSPARK)
    return [] if pyspark is None else [_jar(pyspark, column) for column in _KINDS]


def connectors(given: str | None, needed: Sequence[str], *, as_json: bool) -> str | None:
    """Return the coordinates that Spark is started with, and say so in one line.

    Without ``--packages`` they are those that were tested with the installed Spark. A Spark that
    runs already, or that has jars by its own settings or in its folder, gets none.

    Args:
        given: The value of ``--packages``.
        needed: Some of ``kafka``, ``delta`` and ``iceberg``.
        as_json: Whether the line is one of JSON.

    Raises:
        JobError: Nothing was tested with the installed Spark.
    """
    if given is not None:
        if not _are_fetched(given):
            notice("note", f"fetching connectors (once): {given}", as_json=as_json)
        return given
    pyspark = installed(PYSPARK)
    if pyspark is None or _is_running() or _users_bring_jars():
        return None
    missing = [name for name in needed if not _is_in_spark(name)]
    if not missing:
        return None
    tested, chosen = _tested(pyspark, missing)
    begins = "connectors" if _are_fetched(chosen) else "fetching connectors (once)"
    end = f"tested with Spark {tested.pyspark}; --packages names others"
    notice("note", f"{begins}: {chosen} ({end})", as_json=as_json)
    return chosen


def quieten_spark(output: str) -> Path | None:
    """Let a Spark that is started later log fatal errors only, and print them to a file.

    A configuration of the user's, by ``SPARK_SUBMIT_OPTS`` or ``SPARK_CONF_DIR``, is kept.

    Returns:
        The file, in an output folder; None if the user's configuration says where logs go.
    """
    if "SPARK_SUBMIT_OPTS" in os.environ or "SPARK_CONF_DIR" in os.environ:
        return None
    settings = files("changewire.cli").joinpath("log4j2.properties")
    os.environ["SPARK_SUBMIT_OPTS"] = f'"-Dlog4j2.configurationFile=file:{settings}"'
    return Path(output, PRINTED)


def quieten_pyspark() -> None:
    """Let PySpark log no errors of queries: they are raised, and our own texts have no values."""
    if find_spec("pyspark") is None:
        return
    from pyspark.logger import PySparkLogger

    for name in _WITH_VALUES:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


def _tested(pyspark: str, needed: Sequence[str]) -> tuple[Release, str]:
    """Return what was run with a Spark, and its coordinates of some connectors."""
    tested = ran_with(pyspark)
    found = {name: getattr(tested, name, None) for name in needed}
    untested = [name for name in needed if found[name] is None]
    if tested is None or untested:
        names = " and no ".join(_KINDS[name][0] for name in untested)
        places = ", ".join(RELEASES[name] for name in untested)
        raise JobError(
            f"no {names} was tested with Spark {pyspark}: pip install "
            f'"pyspark=={with_all_connectors().pyspark}", or name the coordinates by --packages. '
            f"Which releases fit this Spark: {places}"
        )
    return tested, ",".join(map(str, found.values()))


def _are_fetched(packages: str) -> bool:
    return all(_has_been_fetched(one.strip()) for one in packages.split(","))


def _is_running() -> bool:
    """Return whether this process has a session, which keeps the jars that it has."""
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def _users_bring_jars() -> bool:
    """Return whether Spark's own settings name jars."""
    texts = (os.environ.get("PYSPARK_SUBMIT_ARGS", ""), _default_settings())
    lines = [line for text in texts for line in text.splitlines() if not line.startswith("#")]
    return any(_OF_USERS.search(line) for line in lines)


def _default_settings() -> str:
    """Return Spark's default settings; empty if it has none."""
    named = os.environ.get("SPARK_CONF_DIR")
    folder = Path(named) if named else _spark_home() / "conf"
    file = folder / "spark-defaults.conf"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _is_in_spark(connector: str) -> bool:
    """Return whether the folder from which Spark loads all jars has a connector."""
    return bool(_versions(re.compile(_KINDS[connector][2]), [_spark_home() / "jars"]))


def _has_been_fetched(coordinates: str) -> bool:
    """Return whether ``--packages`` fetched an artifact before."""
    name = f"{'-'.join(coordinates.replace(':', '_', 1).split(':'))}.jar"
    return any((folder / name).is_file() for folder in _fetched())


def _spark_home() -> Path:
    """Return the folder of the Spark that a command would start."""
    home = os.environ.get("SPARK_HOME")
    spec = find_spec(PYSPARK)
    if home or spec is None or spec.origin is None:
        return Path(home or os.curdir)
    return Path(spec.origin).parent


def _jar(pyspark: str, column: str) -> Finding:
    name, needed_for, pattern = _KINDS[column]
    tested = ran_with(pyspark)
    wanted: str | None = getattr(tested, column, None)
    folders = [_spark_home() / "jars", *_fetched()]
    found = sorted(_versions(re.compile(rf"(?:.+_)?{pattern}"), folders))
    status: Status = "untested" if found else "missing"
    advice = f"start Spark with --packages {wanted}"
    if wanted is None:
        advice = f"none was run with Spark {line(pyspark)}: see {RELEASES[column]}"
    elif wanted.rpartition(":")[2] in found:
        status, advice = "ok", ""
    return Finding(name, status, ", ".join(found) or None, needed_for, advice=advice)


def _versions(pattern: re.Pattern[str], folders: Iterable[Path]) -> set[str]:
    """Return the versions of the jars whose name has a pattern."""
    names = (path.name for folder in folders if folder.is_dir() for path in folder.iterdir())
    return {match[1] for match in map(pattern.fullmatch, names) if match}


def _fetched() -> Iterator[Path]:
    """Yield the folders of what ``--packages`` fetched before."""
    yield from Path.home().glob(".ivy2*/jars")  # 4.0 and newer call it .ivy2.5.2
