"""What is checked before a job starts: its inputs, its output folder, and its engine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.errors import JobError
from changewire.engines.options import CHECKPOINT, ENGINES, LOG
from changewire.extras import install
from changewire.framing import FramingError, expand

JAVA: Final = 17
"""The oldest Java that Spark 4 runs on."""

REPORTS: Final = ("report.html", "report.json")
"""Files next to the log."""

_JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_JAVA_SECONDS: Final = 60
_NOT_INSTALLED: Final = "is not installed"


def check_engine(engine: str, inputs: Sequence[str]) -> None:
    """Refuse an engine that cannot read the inputs: files, or without any a topic or a log."""
    if engine not in ENGINES:
        raise ValueError(f"no engine {engine!r}; there are: {', '.join(ENGINES)}")
    if engine == "python":
        return
    lack = "Spark cannot read standard input" if "-" in inputs else missing_for_spark()
    if lack is not None:
        advice = install("spark") if lack.endswith(_NOT_INSTALLED) else "see `changewire doctor`"
        other = ", or use --engine python" if inputs else ""
        raise JobError(f"{lack}: {advice}{other}")


def missing_for_spark() -> str | None:
    """Return the first thing that Spark needs and that is missing, as a clause; None if none is."""
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            return f"{package} {_NOT_INSTALLED}"
    if major_version("pandas") not in {None, 2}:
        return "pandas 3 or newer is installed, which PySpark cannot use"
    found = java_version()
    return None if found is not None and found >= JAVA else f"No Java {JAVA} or newer was found"


def major_version(distribution: str) -> int | None:
    """Return the first number of an installed package's version; None without one."""
    try:
        return int(version(distribution).partition(".")[0])
    except (PackageNotFoundError, ValueError):
        return None


def java_version() -> int | None:
    """Return the version of the Java that Spark would start; None without one."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - the very program that Spark starts
            [java, "-version"], capture_output=True, check=False, timeout=_JAVA_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _JAVA_VERSION.search(done.stderr.decode("utf-8", "replace"))
    return int(found[1]) if found else None


def files_of(inputs: Sequence[str]) -> list[str]:
    """Return the files of inputs, each once, by the paths that the log knows them by."""
    files = expand(inputs)
    for file in files:
        if file != file.encode("utf-8", "replace").decode():
            raise FramingError(file, None, "the name of the file is not UTF-8; rename it")
    absolute = (file if file == "-" else os.path.abspath(file) for file in files)  # noqa: PTH100 - no links
    return [*dict.fromkeys(absolute)]


def check_folder(output: Path) -> None:
    """Refuse an output that is not a local folder."""
    if re.match(r"\w{2,}:", str(output)):
        raise JobError(f"{output}: the output must be a local folder")
    if output.exists() and not output.is_dir():
        raise JobError(f"{output}: the output must be a folder, and this is a file")


def check_output(output: Path, files: Sequence[str]) -> None:
    """Refuse an output in which a run would read its own log, or replace more than a report."""
    import_module("changewire.report.write")  # says which library is missing
    check_folder(output)
    for name in REPORTS:
        if (output / name).is_dir():
            raise JobError(f"{output / name}: the report has this name; choose another output")
    own = [(output / name).resolve() for name in (LOG, CHECKPOINT, *REPORTS)]
    for file in files:
        if file != "-" and any(Path(file).resolve().is_relative_to(path) for path in own):
            raise JobError(f"{file}: the run would read what it writes; choose another output")


def declared_rows(files: Sequence[str], decode_options: DecodeOptions, shape: str) -> Any:
    """Return the columns that the schemas in the messages of files declare."""
    from changewire.engines.arrow.messages import opener
    from changewire.engines.typed.schemas import embedded_columns

    if "-" in files:
        raise JobError("rows that messages declare are read twice, and standard input only once")
    read, _ = opener([Path(file) for file in files], shape)
    try:
        return embedded_columns(read(), decode_options)
    except ValueError as error:
        raise JobError(str(error)) from None


def check_rows(row_schema: Any, decode_options: DecodeOptions) -> None:
    """Refuse what no rows of the outputs can be."""
    if isinstance(row_schema, str) and row_schema == "json":
        return
    from changewire.engines.typed.decode import decoder_of

    try:
        decoder_of(decode_options, row_schema)
    except ValueError as error:
        raise JobError(str(error)) from None
