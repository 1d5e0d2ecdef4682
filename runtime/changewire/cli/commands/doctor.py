"""``changewire doctor``."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import msgspec
from rich.table import Table
from rich.text import Text

from changewire.cli.ending import GOOD, REFUSED, ending
from changewire.cli.lines import Lines
from changewire.cli.options import Json
from changewire.cli.talk import console
from changewire.codec.registry import unusable
from changewire.version import VERSION


class Finding(msgspec.Struct, frozen=True):
    """Something that changewire can use.

    Attributes:
        name: What was looked for.
        found: Its version; None where it is not there.
        ok: Whether it is there in a version that fits.
        needed_for: What does not work without it; ``spark`` decides over the exit code.
        advice: What to do; empty where nothing is.
    """

    name: str
    found: str | None
    ok: bool
    needed_for: str
    advice: str


_PACKAGES: Final = (
    ("pyspark", "spark", 4, 5),
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


@ending
def doctor(*, as_json: Json = False) -> int:
    """Look for what changewire needs, and say what to do where something is missing.

    The exit code is 1 where something is missing that Spark needs; all else is optional.

    Example: changewire doctor
    """
    findings = [
        Finding("changewire", VERSION, ok=True, needed_for="everything", advice=""),
        Finding("Python", platform.python_version(), ok=True, needed_for="everything", advice=""),
        _java(),
        *(_package(*package) for package in _PACKAGES),
        *(_format(name, fault) for name, fault in unusable().items()),
    ]
    if as_json:
        lines = Lines()
        for finding in findings:
            lines.write(finding)
    else:
        _show(findings)
    lacking = any(not finding.ok for finding in findings if finding.needed_for == "spark")
    return REFUSED if lacking else GOOD


def _java() -> Finding:
    from changewire.job import JAVA, java_version

    found = java_version()
    ok = found is not None and found >= JAVA
    advice = "" if ok else f"install Java {JAVA} or newer, and set JAVA_HOME or PATH to it"
    return Finding("Java", None if found is None else str(found), ok, "spark", advice)


def _package(name: str, extra: str, first: int, beyond: int | None) -> Finding:
    try:
        found = version(name)
    except PackageNotFoundError:
        return Finding(name, None, ok=False, needed_for=extra, advice=_install(extra))
    major = int(found.partition(".")[0])
    ok = major >= first and (beyond is None or major < beyond)
    return Finding(name, found, ok, extra, "" if ok else _install(extra))


def _format(name: str, fault: str) -> Finding:
    return Finding(f"format {name}", None, ok=False, needed_for=name, advice=fault)


def _install(extra: str) -> str:
    return f'pip install "changewire[{extra}]"'


def _show(findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "", "version", "needed for", "what to do"):
        table.add_column(column, overflow="fold", no_wrap=column != "what to do")
    for finding in findings:
        mark = Text("ok", "green") if finding.ok else Text("missing", "yellow")
        if finding.found and not finding.ok:
            mark = Text("unfit", "red")
        table.add_row(mark, finding.name, finding.found or "", finding.needed_for, finding.advice)
    console(on_stdout=True).print(table)
