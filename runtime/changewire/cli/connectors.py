"""Maven coordinates of the connectors that a command lets Spark fetch."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from changewire.cli.checks.jars import has_been_fetched, is_in_spark, spark_home
from changewire.cli.checks.packages import PYSPARK, installed
from changewire.cli.notices import notice
from changewire.tested import RELEASES, Release, ran_with

_NAMES: Final = {"kafka": "Kafka connector", "delta": "Delta", "iceberg": "Iceberg"}
_OF_USERS: Final = re.compile(r"--packages|--jars|--driver-class-path|\bspark\.jars|extraClassPath")
"""Options and settings by which users bring jars themselves."""


def connectors(given: str | None, needed: Sequence[str], *, as_json: bool) -> str | None:
    """Return the coordinates that Spark is started with, and say so in one line.

    Without ``--packages`` they are those that were tested with the installed Spark. A Spark that
    runs already, or whose users bring jars by its own settings or in its folder, gets none.

    Args:
        given: What ``--packages`` says.
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
    missing = [name for name in needed if not is_in_spark(name)]
    if not missing:
        return None
    tested, chosen = _tested(pyspark, missing)
    begins = "connectors" if _are_fetched(chosen) else "fetching connectors (once)"
    end = f"tested with Spark {tested.pyspark}; --packages names others"
    notice("note", f"{begins}: {chosen} ({end})", as_json=as_json)
    return chosen


def _tested(pyspark: str, needed: Sequence[str]) -> tuple[Release, str]:
    """Return what was run with a Spark, and its coordinates of some connectors."""
    tested = ran_with(pyspark)
    found = {name: getattr(tested, name, None) for name in needed}
    untested = [name for name in needed if found[name] is None]
    if tested is None or untested:
        names = " and no ".join(_NAMES[name] for name in untested)
        places = ", ".join(RELEASES[name] for name in untested)
        from changewire.job import JobError  # loads Arrow

        raise JobError(
            f"no {names} was tested with Spark {pyspark}: name the coordinates by --packages. "
            f"Which releases fit this Spark: {places}"
        )
    return tested, ",".join(map(str, found.values()))


def _are_fetched(packages: str) -> bool:
    return all(has_been_fetched(one.strip()) for one in packages.split(","))


def _is_running() -> bool:
    """Tell whether this process has a session, which keeps the jars that it has."""
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def _users_bring_jars() -> bool:
    """Tell whether Spark's own settings name jars."""
    texts = (os.environ.get("PYSPARK_SUBMIT_ARGS", ""), _default_settings())
    lines = [line for text in texts for line in text.splitlines() if not line.startswith("#")]
    return any(_OF_USERS.search(line) for line in lines)


def _default_settings() -> str:
    """Return Spark's default settings; empty where it has none."""
    named = os.environ.get("SPARK_CONF_DIR")
    folder = Path(named) if named else spark_home() / "conf"
    file = folder / "spark-defaults.conf"
    return file.read_text(encoding="utf-8") if file.is_file() else ""
