"""The main job: files in, three tables and a report out, by whichever engine there is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, get_args

from changewire.changes import Digests, Image, NullValue
from changewire.changes.reading import Reading
from changewire.engines.layout import OUTPUTS
from changewire.engines.outcome import Outcome
from changewire.framing import FramingError, expand

__all__ = ["JobError", "run"]

Engine = Literal["auto", "spark", "python"]
ENGINES: Final[tuple[str, ...]] = get_args(Engine)
"""Names that `run` takes as its engine."""

JAVA: Final = 17
"""The oldest Java that Spark 4 runs on."""

REPORTS: Final = ("report.json", "report.html")

_JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_JAVA_SECONDS: Final = 60
_WRITTEN = re.compile(r"\.?part-.*|\.?_SUCCESS(\.crc)?")
"""Names of the files that an engine writes into an output."""


class JobError(Exception):
    """The job cannot be done as it was asked for; the text says why, and what to do."""


def run(
    inputs: Sequence[str],
    output: str,
    *,
    format: str,
    engine: Engine = "auto",
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Outcome:
    """Decode files into Parquet tables and write a report beside them.

    Args:
        inputs: Files or folders; ``-`` is standard input, which only the Python engine reads.
        output: Local folder for ``changes``, ``controls``, ``dead_letters``, ``report.json`` and
            ``report.html``. Those are replaced, other files in it stay.
        format: Public name of the format; ``auto`` takes for each message the one that it says
            it has, for topics that carry several.
        engine: ``auto`` takes Spark where it can run, and otherwise Python.
        image: What a message holds of its row after a write.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table, to take names of its columns apart.
        digests: ``count`` or ``refuse`` Aerospike records whose digest is not that of their set and
            user key.
        null_value: What a Kafka record without value is: ``control``, an event that changes
            nothing, or ``delete``, of the row that its key names.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the report's first dead letters show the start of their values.
        progress: Called by the Python engine, now and then, with the number of messages so far.
        notice: Called with one sentence where ``auto`` does not take Spark.

    Raises:
        FramingError: An input cannot be read.
        JobError: The engine cannot run, or the output would replace files that no run wrote; or
            Spark failed, whose traceback is then in ``failure.txt`` in the output.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli``, ``spark`` or ``digest``.
        ValueError: There is no such format, image, shape or engine.
    """
    from changewire.report.write import write

    reading = Reading(format, image, keys, families, digests, null_value)
    files = files_of(inputs)
    check_output(Path(output), files)
    chosen, why = choose(engine, files)
    if why and notice is not None:
        notice(why)
    if chosen == "spark":
        outcome = _in_spark(files, output, reading, shape, show_values=show_values)
    else:
        from changewire.engines import python

        outcome = python.run(
            files, output, reading=reading, shape=shape, show_values=show_values, progress=progress
        )
    outcome = replace(outcome, inputs=list(inputs))
    write(outcome)
    return outcome


def choose(engine: str, inputs: Sequence[str]) -> tuple[str, str | None]:
    """Return the engine to run, and a sentence where ``auto`` does not take Spark.

    Raises:
        JobError: Spark is asked for and cannot run.
        ValueError: There is no such engine.
    """
    if engine not in ENGINES:
        text = f"no engine {engine!r}; there are: {', '.join(ENGINES)}"
        raise ValueError(text)
    if engine == "python":
        return "python", None
    lack = "Spark cannot read standard input" if "-" in inputs else spark_lacks()
    if lack is None:
        return "spark", None
    if engine == "spark":
        raise JobError(f"{lack}: use --engine python, or let `changewire doctor` say what to do.")
    return "python", f"{lack}: running without Spark, with the same result."


def spark_lacks() -> str | None:
    """Return the first thing that Spark needs and that is not there, as a clause; None if none."""
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            return f"{package} is not installed"
    if major_of("pandas") not in {None, 2}:
        return "pandas 3 or newer is installed, which PySpark cannot use"
    found = java_version()
    return None if found is not None and found >= JAVA else f"No Java {JAVA} or newer was found"


def major_of(distribution: str) -> int | None:
    """Return the first number of an installed package's version; None where there is none."""
    try:
        return int(version(distribution).partition(".")[0])
    except (PackageNotFoundError, ValueError):
        return None


def java_version() -> int | None:
    """Return the version of the Java that Spark would start; None where there is none."""
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


def _in_spark(
    files: Sequence[str],
    output: str,
    reading: Reading,
    shape: str,
    *,
    show_values: bool,
) -> Outcome:
    """Run the Spark engine; what a worker cannot read is a `FramingError` here as well."""
    from changewire.engines import spark
    from changewire.engines.spark.failure import failure
    from changewire.engines.spark.raised import RAISED

    try:
        return spark.run(files, output, reading=reading, shape=shape, show_values=show_values)
    except RAISED as error:
        # Spark hands on no exception of a worker, only its traceback as text.
        for file in files:
            found = re.search(
                rf"FramingError: {re.escape(file)}(?:, record (\d+)[^:]*)?: (.+)", str(error)
            )
            if found:
                number = int(found[1]) if found[1] else None
                raise FramingError(file, number, found[2]) from error
        text = failure("the run failed", error, output, {}, show_values=show_values)
        raise JobError(text) from None


def files_of(inputs: Sequence[str]) -> list[str]:
    """Return the files that inputs stand for; the tables hold their names.

    Raises:
        FramingError: There is no such file, or its name is not UTF-8.
    """
    files = expand(inputs)
    for file in files:
        if file != file.encode("utf-8", "replace").decode():
            reason = "the name of the file is not UTF-8; rename it"
            raise FramingError(file, None, reason)
    return files


def check_folder(output: Path) -> None:
    """Refuse an output that is no local folder."""
    if re.match(r"\w{2,}:", str(output)):
        raise JobError(f"{output}: the output must be a local folder")
    if output.exists() and not output.is_dir():
        raise JobError(f"{output}: the output must be a folder, and this is a file")


def check_output(output: Path, files: Sequence[str]) -> None:
    """Refuse an output in which a run would replace what no run wrote, or its own input."""
    check_folder(output)
    for foreign in _foreign(output):
        raise JobError(
            f"{foreign}: no run wrote this, and it would be replaced; choose another output folder"
        )
    replaced = [(output / name).resolve() for name in (*OUTPUTS, *REPORTS)]
    for file in files:
        if file != "-" and any(Path(file).resolve().is_relative_to(path) for path in replaced):
            raise JobError(f"{file}: the run would replace its own input; choose another output")


def _foreign(output: Path) -> Iterator[Path]:
    """Yield what stands where a run writes and is not of the kind that a run writes."""
    yield from (output / name for name in REPORTS if (output / name).is_dir())
    for folder in (output / name for name in OUTPUTS):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            yield folder
        elif folder.is_dir():
            yield from (p for p in folder.iterdir() if p.is_dir() or not _WRITTEN.fullmatch(p.name))
