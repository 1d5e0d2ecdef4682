"""Python and Java."""

from __future__ import annotations

import platform

from changewire.cli.checks.finding import Finding, Status
from changewire.tested import JAVAS, PYTHONS, line


def python() -> Finding:
    """Look at the Python that runs."""
    found = platform.python_version()
    if line(found) in PYTHONS:
        return Finding(name="Python", found=found)
    advice = f"tests run on {', '.join(PYTHONS)}"
    return Finding(name="Python", found=found, status="untested", advice=advice)


def java() -> Finding:
    """Look for the Java that Spark would start."""
    from changewire.job import JAVA, java_version

    found = java_version()
    status: Status = "ok"
    advice = ""
    if found is None or found < JAVA:
        status = "missing" if found is None else "unfit"
        advice = f"install Java {JAVA} or newer, and set JAVA_HOME or PATH to it"
    elif found not in JAVAS:
        status, advice = "untested", f"tests run on {', '.join(map(str, JAVAS))}"
    return Finding(
        name="Java",
        status=status,
        found=None if found is None else str(found),
        needed_for="spark",
        is_required=True,
        advice=advice,
    )
