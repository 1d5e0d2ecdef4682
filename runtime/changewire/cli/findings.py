"""What `changewire doctor` finds of Python, of Java and of the packages of all extras."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final, Literal, TypeAlias

import msgspec

from changewire import extras
from changewire.tested import JAVAS, PYTHONS, TESTED, line, ran_with, with_all_connectors

_REQUIRED: Final = "spark"
PYSPARK: Final = "pyspark"

_PACKAGES: Final = (
    (PYSPARK, "spark", 4, 5),
    ("pyarrow", "spark", 20, None),
    ("pandas", "spark", 2, 3),
    ("jinja2", "cli", 3, None),
    ("confluent-kafka", "kafka", 2, None),
    ("deltalake", "delta", 1, None),
    ("pycryptodome", "digest", 3, None),
    ("ruff", "codegen", 0, None),
    ("hypothesis", "testing", 6, None),
)
"""Distribution, its extra, the first version that fits and the first that does not, as majors."""

Status: TypeAlias = Literal["ok", "untested", "missing", "unfit"]


class Finding(msgspec.Struct, frozen=True):
    """Something that changewire can use.

    Attributes:
        name: What was looked for.
        status: ``ok`` for a version that was tested, ``untested`` for another one that should work,
            ``missing``, or ``unfit`` for one that does not work.
        found: Its version; None if it is missing.
        needed_for: What does not work without it.
        is_required: Whether the exit code is 1 if it is missing or unfit.
        advice: What to do; empty if there is nothing to do.
    """

    name: str
    status: Status = "ok"
    found: str | None = None
    needed_for: str = "everything"
    is_required: bool = False
    advice: str = ""

    @property
    def is_lacking(self) -> bool:
        """Whether what needs it will not work."""
        return self.status in {"missing", "unfit"}


def python() -> Finding:
    """Look at the Python that runs."""
    found = platform.python_version()
    if line(found) in PYTHONS:
        return Finding("Python", found=found)
    advice = f"tests run on {', '.join(PYTHONS)}"
    return Finding("Python", "untested", found, advice=advice)


def java() -> Finding:
    """Look for the Java that Spark would start."""
    from changewire.jobs.checks import JAVA, java_version

    found = java_version()
    status: Status = "ok"
    advice = ""
    if found is None or found < JAVA:
        status = "missing" if found is None else "unfit"
        advice = f"install Java {JAVA} or newer, and set JAVA_HOME or PATH to it"
    elif found not in JAVAS:
        status, advice = "untested", f"tests run on {', '.join(map(str, JAVAS))}"
    shown = None if found is None else str(found)
    return Finding("Java", status, shown, "spark", is_required=True, advice=advice)


def kernel() -> Finding:
    """Look for the native kernel, and whether it reads the tables of this version."""
    from changewire.engines import native

    found, install = native.version(), "install changewire again where cargo is: https://rustup.rs"
    status: Status = "ok"
    advice = ""
    if found is None:
        status, advice = "missing", install
    elif misfit := native.misfit():
        status, advice = "unfit", f"{misfit}: {install}"
    elif native.is_switched_off():
        status, advice = "untested", f"{native.SWITCH}=0 switches it off"
    elif unread := native.unread():
        status, advice = "unfit", f"it does not read the tables of {', '.join(unread)}"
    return Finding("native kernel", status, found, "speed", advice=advice)


def packages() -> list[Finding]:
    """Look for the packages of all extras."""
    return [_package(*package) for package in _PACKAGES]


def installed(name: str) -> str | None:
    """Return the version of an installed distribution; None without one."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _package(name: str, extra: str, first: int, beyond: int | None) -> Finding:
    found = installed(name)
    status, advice = _judged(name, found, extra, first, beyond)
    return Finding(name, status, found, extra, is_required=extra == _REQUIRED, advice=advice)


def _judged(
    name: str, found: str | None, extra: str, first: int, beyond: int | None
) -> tuple[Status, str]:
    install = extras.install(extra)
    if found is None:
        return "missing", install
    major = int(found.partition(".")[0])
    if major < first or (beyond is not None and major >= beyond):
        return "unfit", install
    advice = _not_run(found) if name == PYSPARK else ""
    return ("untested" if advice else "ok"), advice


def _not_run(pyspark: str) -> str:
    """Return what to install if no connector was run with a PySpark; empty if one was."""
    whole = with_all_connectors()
    advice = f'pip install "pyspark=={whole.pyspark}", on which all tests run'
    tested = ran_with(pyspark)
    if tested is None or tested.pyspark != pyspark:
        return f"tests ran on {', '.join(row.pyspark for row in TESTED)}: {advice}"
    has_connector = tested.kafka or tested.delta or tested.iceberg
    return "" if has_connector else f"no connector was run with it: {advice}"
