"""What the system refuses is one sentence and exit code 2; an interrupt is silent, and 130."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.runtime.cli.conftest import Ended
from tests.samples import FORMAT, examples
from tests.support.session import QUICK

Cli = Callable[..., Ended]
Program = Callable[..., "subprocess.CompletedProcess[bytes]"]
COMMAND = [sys.executable, "-m", "changewire.cli"]
FULL = "No space left on device"
OF_JAVA = "WARNING: Using incubator modules: jdk.incubator.vector"
"""What Java itself says when it starts."""

OF_SPARK = (OF_JAVA, "connectors: ", "fetching connectors (once): ")
"""How lines begin that are said when Spark starts."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    if mount is None or unmount is None:
        pytest.skip("there is no command mount")
    command = [mount, "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    if done.returncode:
        pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run([unmount, "--lazy", str(folder)], check=True)


@pytest.fixture
def quick_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the Java of a command compile little, as that of the tests, and print to its own file."""
    monkeypatch.delenv("SPARK_SUBMIT_OPTS", raising=False)  # commands in this process set it
    options = shlex.quote(QUICK["spark.driver.extraJavaOptions"])
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--driver-java-options {options} pyspark-shell")


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    """A file of 10,000 messages, whose tables are larger than the small disk."""
    path, write = tmp_path / "in.jsonl", examples("write")[0]
    lines = [json.dumps({**write, "gen": n, "lut": 1617167159548 + n**2}) for n in range(10_000)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def sentence(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the one line that a command says before it ends with exit code 2."""
    assert done.returncode == 2, done.stderr
    (line,) = [one for one in done.stderr.decode().splitlines() if not one.startswith(OF_SPARK)]
    return line


@pytest.mark.parametrize(
    ("count", "ballast", "full", "left"),
    [
        (10_000, 0, "out/log: delta-rs cannot do it ", {"log", "out"}),
        (1, 28_000, f"out/report.html: {FULL}", {"log", "out", "part"}),
    ],
)
def test_a_full_disk_is_one_sentence(  # noqa: PLR0917 - fixtures and cases
    program: Program,
    small_disk: Path,
    messages: Path,
    count: int,
    ballast: int,
    full: str,
    left: set[str],
) -> None:
    """What does not fit is named, and no row of it stays; a log that is whole stays."""
    lines = messages.read_text("utf-8").splitlines(keepends=True)
    messages.write_text("".join(lines[:count]), encoding="utf-8")
    (small_disk / "ballast").write_bytes(bytes(ballast))
    output = small_disk / "out"
    done = program("run", "-f", FORMAT, messages, "-o", output)
    assert done.returncode == 2
    said = done.stderr.decode().splitlines()[-1]  # delta-rs may say more before
    assert said.startswith(str(small_disk / full))
    assert FULL in said
    of_delta = {"_delta_log", *(f"{number:020}.json" for number in range(2))}
    names = {path.name.partition("-")[0] for path in small_disk.rglob("*") if path.suffix != ".tmp"}
    assert names - of_delta == {"ballast", *left}


@pytest.mark.usefixtures("spark")
def test_a_full_disk_in_spark_is_one_sentence(cli: Cli, small_disk: Path, messages: Path) -> None:
    """Spark's own reason is given, and the log has no rows of it."""
    output = small_disk / "out"
    (small_disk / "ballast").write_bytes(bytes(60_000))
    ended = cli("run", "-f", FORMAT, messages, "-o", output, "--engine", "spark")
    assert ended.exit_code == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"the run failed: IOException: {FULL}. The whole traceback ")
    assert {path.name for path in output.iterdir()} <= {"failure.txt", "log"}
    assert not [*output.rglob("_delta_log/*.json")]


def buffered() -> dict[str, str]:
    """Return an environment in which what cannot be written still waits when the program ends."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ("schema", "list"),
        ("--help",),
        ("run", "--help"),
        ("decode", "-f", FORMAT),
        ("sample", FORMAT),
        ("explain", "-f", FORMAT),
    ],
)
def test_a_full_standard_output_is_one_sentence(good: Path, arguments: tuple[str, ...]) -> None:
    """Data, lists and help that cannot be written are no success, and no traceback."""
    with Path("/dev/full").open("wb") as full, good.open("rb") as given:
        command = [*COMMAND, *arguments]
        done = subprocess.run(
            command, stdin=given, stdout=full, stderr=subprocess.PIPE, check=False, env=buffered()
        )
    assert sentence(done) == f"the output: {FULL}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_results_of_a_log_for_a_full_standard_output(tmp_path: Path) -> None:
    """A run, or a query, fails if its result cannot be written."""
    one, output = tmp_path / "one.json", str(tmp_path / "out")
    one.write_text(json.dumps(examples("write")[0]), encoding="utf-8")
    for arguments in (
        ("run", "-f", FORMAT, str(one), "-o", output, "--json"),
        ("current", output, "--table", "set"),
    ):
        with Path("/dev/full").open("wb") as full:
            command = [*COMMAND, *arguments]
            done = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, check=False, env=buffered()
            )
        assert done.returncode == 2, done.stderr
        assert f"the output: {FULL}" in done.stderr.decode().splitlines()[-1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_standard_error_is_no_rejection(mixed: Path) -> None:
    """Where nothing can be said the exit code still tells a failure from rejected messages."""
    with Path("/dev/full").open("wb") as full:
        command = [*COMMAND, "decode", "-f", FORMAT, str(mixed)]
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=full, check=False, env=buffered()
        )
    assert done.returncode == 2


@pytest.mark.parametrize("command", ["validate", "explain"])
def test_a_standard_output_that_is_not_utf8(tmp_path: Path, command: str) -> None:
    """What its encoding lacks is escaped, as on standard error."""
    write = examples("write")[0]
    value = {"name": "\u540d", "type": "str", "value": "\u540d"}
    (tmp_path / "in").write_text(json.dumps({**write, "bins": [value], "gen": "\u540d"}), "utf-8")
    done = subprocess.run(
        [*COMMAND, command, "-f", FORMAT, str(tmp_path / "in")],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )
    assert b"Traceback" not in done.stderr
    assert b"\\u540d" in done.stdout


@pytest.mark.parametrize(
    ("closed", "code", "has_data"), [("<&-", 0, False), (">&-", 2, False), ("2>&-", 1, True)]
)
def test_streams_that_are_closed(mixed: Path, closed: str, code: int, *, has_data: bool) -> None:
    """No input is an empty one, results need an output, and notices never become results."""
    command = shlex.join(
        [*COMMAND, "decode", "-f", FORMAT, *([] if "<" in closed else [str(mixed)])]
    )
    done = subprocess.run(
        ["bash", "-c", f"{command} {closed}"],  # noqa: S607 - the system's own
        capture_output=True,
        check=False,
    )
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert all(line.startswith(b"{") for line in done.stdout.splitlines())
    assert bool(done.stdout) == has_data
    assert (b"standard output is closed" in done.stderr) == (code == 2)


def test_an_output_below_a_file_is_one_sentence(program: Program, good: Path) -> None:
    """A folder that cannot be made is named with the reason."""
    output = good / "below"
    done = program("run", "-f", FORMAT, good, "-o", output)
    assert sentence(done).startswith(f"{output}/log: delta-rs cannot do it (Could not create ")


def test_no_java_is_one_sentence(
    program: Program, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark that is asked for and cannot start is a failure; files could be read without it."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    files = program("run", "-f", FORMAT, good, "-o", tmp_path / "o", "--engine", "spark")
    lack = "No Java 17 or newer was found: see `changewire doctor`"
    assert sentence(files) == f"{lack}, or use --engine python"
    topics = ("--kafka", "localhost:1", "--subscribe", "t", "--packages", "a:b:1")
    done = program("stream", "-f", FORMAT, *topics, "-o", tmp_path / "o")
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == lack


@pytest.mark.parametrize(
    ("library", "arguments", "extra"),
    [
        ("pyspark", ("run", "-f", FORMAT, "in", "-o", "out", "--engine", "spark"), "spark"),
        ("pyarrow", ("decode", "--as", "changes", "-f", FORMAT, "in.parquet"), "cli"),
        ("deltalake", ("trace", "log", "id=1"), "delta"),
        ("deltalake", ("run", "-f", FORMAT, "in", "-o", "out"), "delta"),
        (
            "Crypto",
            ("decode", "--as", "changes", "-f", FORMAT, "--check-digests", "warn", "in"),
            "digest",
        ),
    ],
)
def test_a_missing_extra_is_one_sentence(
    tmp_path: Path, library: str, arguments: tuple[str, ...], extra: str
) -> None:
    """The sentence has the command that installs it."""
    for name in ("in", "in.parquet"):
        (tmp_path / name).write_bytes(b"PAR1")
    (tmp_path / "log" / "_delta_log").mkdir(parents=True)
    script = (
        "import importlib.util, sys; "
        f"find = importlib.util.find_spec; sys.modules[{library!r}] = None; "
        "importlib.util.find_spec = lambda name, *more: "
        f"None if name == {library!r} else find(name, *more); "
        "from changewire.cli import main; main()"
    )
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path)
    assert f'pip install "./changewire[{extra}]"' in sentence(done)


def test_a_fault_of_ours_is_no_rejection() -> None:
    """What no sentence explains has a traceback, and not the exit code of rejected messages."""
    script = (
        "import changewire.cli.commands.schema.list as formats; "
        "from changewire.cli import main; formats.Lines = None; main()"
    )
    command = [sys.executable, "-c", script, "schema", "list", "--json"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"TypeError" in done.stderr


@pytest.mark.usefixtures("quick_java")
def test_an_interrupt_of_spark_is_silent(tmp_path: Path) -> None:
    """Ctrl-C while Spark reads ends the run at once, with 130; no log is begun."""
    pipe, output = tmp_path / "in.jsonl", tmp_path / "out"
    os.mkfifo(pipe)
    arguments = ["run", "-f", FORMAT, "--shape", "json-lines", str(pipe), "-o", str(output)]
    command = [*COMMAND, *arguments, "--engine", "spark"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        # Opening the pipe waits until a worker reads it.
        with pipe.open("wb"):
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)
        said, notices = process.communicate()
    assert process.returncode == 130
    assert [one for one in notices.decode().splitlines() if not one.startswith(OF_SPARK)] == []
    assert said == b""
    assert not (output / "log").exists()
