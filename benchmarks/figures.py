"""The figures behind tables as JSON, with where they were taken."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version

from benchmarks.tables import Result
from changewire.engines.native import installed

PACKAGES = (
    *("msgspec", "orjson", "jsonschema", "jsonschema-rs", "pydantic"),
    *("pyarrow", "pyspark", "apache-flink", "confluent-kafka"),
)
"""Packages whose versions are named, if they are installed."""


def machine() -> str:
    """Return one line on where and with what this runs."""
    packages = ", ".join(_versions())
    day = datetime.now(tz=timezone.utc).date()
    hardware = f"{os.cpu_count()} cores {platform.machine()}"
    kernel = "without the native kernel" if installed() is None else "with the native kernel"
    return f"{day}, {hardware}, Python {platform.python_version()}, {packages}, {kernel}"


def _versions() -> Iterator[str]:
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            yield f"{name} {version(name)}"


def load() -> float | None:
    """Return how many programs wanted a core in the last minute; None where no system tells."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def figures(results: Iterable[Result], before: float | None) -> str:
    """Return all figures as JSON, with where they were taken.

    Args:
        results: What was measured.
        before: The load of the machine before it was.
    """
    data = [{"title": r.title, "target": r.target, **r.data} for r in results]
    where = {"machine": machine(), "load_before": before, "load_after": load()}
    return json.dumps({**where, "results": data}, indent=1) + "\n"
