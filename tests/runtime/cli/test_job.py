"""The main job: which engine runs, what the output may be, what fails."""

from __future__ import annotations

import errno
import gzip
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from tests.samples import FORMAT

from changewire import job
from changewire.framing import FramingError
from changewire.jobs import checks


def java(folder: Path, answer: str) -> None:
    """Write a program that answers as ``java -version`` does."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{answer}' >&2\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_391"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("Unable to locate a Java Runtime.", None),
    ],
)
def test_java_is_asked_for_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, found: int | None
) -> None:
    """The Java in JAVA_HOME, which Spark would start, says how old it is."""
    java(tmp_path, answer)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert checks.java_version() == found


def test_no_java_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a JAVA_HOME that is gone nor an empty path raises."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert checks.java_version() is None
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checks.java_version() is None


def test_spark_needs_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Java 17, the error says so and what to do; Python needs none."""
    monkeypatch.setattr(checks, "java_version", lambda: 11)
    monkeypatch.setattr(checks, "major_version", {"pandas": 2}.get)
    checks.check_engine("python", ["a"])
    with pytest.raises(job.JobError, match=r"No Java 17 .*`changewire doctor`, or use --engine"):
        checks.check_engine("spark", ["a"])
    with pytest.raises(job.JobError, match=r"`changewire doctor`$"):
        checks.check_engine("spark", [])
    monkeypatch.setattr(checks, "java_version", lambda: 17)
    checks.check_engine("spark", ["a"])


def test_spark_needs_pandas_below_three(monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark cannot use pandas 3, which is said before it is started."""
    monkeypatch.setattr(checks, "major_version", {"pandas": 3}.get)
    assert checks.missing_for_spark() == "pandas 3 or newer is installed, which PySpark cannot use"


def test_standard_input_is_read_by_the_python_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark's workers have no standard input."""
    monkeypatch.setattr(checks, "missing_for_spark", lambda: None)
    checks.check_engine("python", ["-"])
    with pytest.raises(job.JobError, match="standard input"):
        checks.check_engine("spark", ["-"])


def test_an_unknown_engine_is_refused() -> None:
    """There are two names, and the error says which."""
    with pytest.raises(ValueError, match="python, spark"):
        checks.check_engine("flink", [])


def start(source: Path, output: Path | str) -> None:
    """Run the job in Python."""
    job.run([str(source)], str(output), format=FORMAT, engine="python")


def test_foreign_files_stay(mixed: Path, tmp_path: Path) -> None:
    """A run adds to its log and replaces its report, twice, and leaves everything else alone."""
    output = tmp_path / "out"
    output.mkdir()
    (output / "notes.txt").write_text("mine", encoding="utf-8")
    start(mixed, output)
    start(mixed, output)
    assert (output / "notes.txt").read_text(encoding="utf-8") == "mine"
    names = ["log", "notes.txt", "report.html", "report.json"]
    assert sorted(path.name for path in output.iterdir()) == names


def test_a_run_that_fails_leaves_the_old_output(mixed: Path, tmp_path: Path) -> None:
    """A file that cannot be read to its end leaves nothing of its run, and the earlier report."""
    output, broken = tmp_path / "out", tmp_path / "broken.gz"
    start(mixed, output)
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    broken.write_bytes(gzip.compress(mixed.read_bytes())[:-20])
    with pytest.raises(FramingError):
        job.run([str(mixed), str(broken)], str(output), format=FORMAT, engine="python")
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before


def test_a_report_that_cannot_be_written_leaves_the_log(
    mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier report stays as it was, and the next run finds the log whole."""
    output = tmp_path / "out"
    start(mixed, output)
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("changewire.report.write.page", raising(full))
    with pytest.raises(OSError, match="No space left on device"):
        start(mixed, output)
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before


def test_files_that_spark_writes_beside_data_are_no_harm(mixed: Path, tmp_path: Path) -> None:
    """Their names say that they are no data."""
    folder = tmp_path / "out" / "log"
    folder.mkdir(parents=True)
    names = ["_SUCCESS", "._SUCCESS.crc", ".part-00000-a.crc"]
    for name in names:
        (folder / name).write_bytes(b"")
    start(mixed, tmp_path / "out")
    start(mixed, tmp_path / "out")
    (file,) = folder.glob("*.parquet")
    assert {path.name for path in folder.iterdir()} == {*names, "_delta_log", file.name}


@pytest.mark.parametrize("output", ["s3://bucket/out", "{mixed}"])
def test_an_output_is_a_local_folder(mixed: Path, output: str) -> None:
    """Neither an address nor a file can hold the tables."""
    with pytest.raises(job.JobError, match="must be a"):
        start(mixed, output.format(mixed=mixed))


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """The tables hold the names of files as text, so a name in other bytes is refused."""
    path = tmp_path / "in\udcff"
    path.write_bytes(b"{}")
    with pytest.raises(FramingError, match="not UTF-8"):
        start(path, tmp_path / "out")


def test_a_failure_of_spark_is_a_sentence_and_a_file(
    mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no sentence of ours explains is the innermost cause, without values."""
    text = "Job aborted\nTraceback (most recent call last):\n  File x\nKeyError: 'Dora'\n"
    monkeypatch.setattr("changewire.engines.spark.run.run_files", raising(PySparkException(text)))
    out = tmp_path / "out"
    with pytest.raises(job.JobError) as caught:
        job.run([str(mixed)], str(out), format=FORMAT, engine="spark")
    assert str(caught.value) == (
        f"the run failed: KeyError: [hidden]. The whole traceback is in {out}/failure.txt"
    )
    assert "Dora" in (out / "failure.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [PySparkException, Py4JError])
def test_a_file_that_a_worker_cannot_read_is_named(
    kind: type[Exception], mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is the same, whichever class Spark makes of that of the worker."""
    error = kind(f"Caused by: changewire.framing.FramingError: {mixed}, record 3: it is cut off")
    monkeypatch.setattr("changewire.engines.spark.run.run_files", raising(error))
    with pytest.raises(FramingError, match=r"record 3 .*: it is cut off") as caught:
        job.run([str(mixed)], str(tmp_path / "out"), format=FORMAT, engine="spark")
    assert (caught.value.path, caught.value.number) == (str(mixed), 3)


def raising(error: Exception) -> Callable[..., None]:
    """Return a function that raises an error."""

    def run(*_: object, **__: object) -> None:
        raise error

    return run
