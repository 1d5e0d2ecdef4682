"""Packages of Python, by the extras that they belong to."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

from changewire.cli.checks.finding import Finding, Status
from changewire.tested import TESTED

_REQUIRED: Final = "spark"
PYSPARK: Final = "pyspark"

_PACKAGES: Final = (
    (PYSPARK, "spark", 4, 5),
    ("pyarrow", "spark", 18, None),
    ("pandas", "spark", 2, 3),
    ("jinja2", "cli", 3, None),
    ("matplotlib", "cli", 3, None),
    ("confluent-kafka", "kafka", 2, None),
    ("deltalake", "delta", 1, None),
    ("pycryptodome", "digest", 3, None),
    ("datamodel-code-generator", "codegen", 0, None),
    ("hypothesis", "testing", 6, None),
)
"""Distribution, its extra, the first version that fits and the first that does not, as majors."""


def packages() -> list[Finding]:
    """Look for the packages of all extras."""
    return [_package(*package) for package in _PACKAGES]


def installed(name: str) -> str | None:
    """Return the version of an installed distribution; None where there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _package(name: str, extra: str, first: int, beyond: int | None) -> Finding:
    found = installed(name)
    status, advice = _judged(name, found, extra, first, beyond)
    return Finding(
        name=name,
        status=status,
        found=found,
        needed_for=extra,
        is_required=extra == _REQUIRED,
        advice=advice,
    )


def _judged(
    name: str, found: str | None, extra: str, first: int, beyond: int | None
) -> tuple[Status, str]:
    install = f'pip install "changewire[{extra}]"'
    if found is None:
        return "missing", install
    major = int(found.partition(".")[0])
    if major < first or (beyond is not None and major >= beyond):
        return "unfit", install
    ran = [row.pyspark for row in TESTED]
    if name == PYSPARK and found not in ran:
        return "untested", f"tests ran on {', '.join(ran)}"
    return "ok", ""
