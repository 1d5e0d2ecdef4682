"""The command as a process: pipes, signals, memory, and what is installed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.samples import FORMAT, examples

import changewire

Program = Callable[..., "subprocess.CompletedProcess[bytes]"]
COMMAND = [sys.executable, "-m", "changewire.cli"]
MESSAGE = json.dumps(examples("write")[0]).encode() + b"\n"


def test_version(program: Program) -> None:
    """The version is that of the library."""
    assert program("--version").stdout.decode().split() == ["changewire", changewire.__version__]


def test_data_flows_through_pipes(program: Program) -> None:
    """What is piped in comes out as data alone, without a colour."""
    ended = program("decode", "-f", FORMAT, data=MESSAGE * 3 + b"{\n")
    assert ended.returncode == 1
    assert [json.loads(line)["number"] for line in ended.stdout.splitlines()] == [0, 1, 2]
    assert b"\x1b" not in ended.stdout + ended.stderr


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    """Who has seen enough, as head has, ends the command without a word."""
    path = tmp_path / "in"
    path.write_bytes(MESSAGE * 2000)
    command = [*COMMAND, "decode", "-f", FORMAT, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"path"')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_an_interrupt_ends_cleanly() -> None:
    """Ctrl-C ends a command that waits for input, without a traceback."""
    command = [*COMMAND, "decode", "-f", FORMAT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b'{"msg": 1}\n')
        process.stdin.flush()
        assert b"record 0" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        # Python loses a signal that comes right before it waits for input: a user tries again.
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b""
    assert process.returncode == 130


def test_memory_does_not_grow_with_the_stream(tmp_path: Path) -> None:
    """Thirty times the messages need no more memory, within a few megabytes."""
    pytest.importorskip("resource", reason="tells how much memory a process had")
    script = (
        "import resource, subprocess, sys; "
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    peaks: list[int] = []
    for megabytes in (1, 30):
        path = tmp_path / "in"
        path.write_bytes(MESSAGE * (megabytes * 2**20 // len(MESSAGE)))
        command = [sys.executable, "-c", script, *COMMAND, "decode", "-f", FORMAT, str(path)]
        peaks.append(int(subprocess.run(command, capture_output=True, check=True).stdout))
    unit = 1 if sys.platform == "darwin" else 2**10
    assert (peaks[1] - peaks[0]) * unit < 12 * 2**20


@pytest.mark.parametrize("library", ["typer", "rich"])
def test_a_missing_extra_is_named(library: str) -> None:
    """Without the extra the command says in one line what to install, and gives 2."""
    script = f"import sys; sys.modules['{library}'] = None; from changewire.cli import main; main()"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert ended.returncode == 2
    assert (
        ended.stderr.decode()
        == 'the command line needs an extra: pip install "./changewire[cli]"\n'
    )


def test_a_library_missing_for_the_report_is_named(tmp_path: Path) -> None:
    """A run without jinja2 says what to install, before anything is written."""
    script = "import sys; sys.modules['jinja2'] = None; from changewire.cli import main; main()"
    arguments = ["run", "-f", FORMAT, "-o", str(tmp_path / "out"), "-"]
    command = [sys.executable, "-c", script, *arguments]
    ended = subprocess.run(command, input=MESSAGE, capture_output=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.decode().endswith('pip install "./changewire[cli]"\n')
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [["--help"], ["decode", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    """Asking for help waits for no engine, no check of values and no other command."""
    script = f"""
import sys
sys.argv = ["changewire", *{words}]
from changewire.cli import main
try:
    main()
finally:
    heavy = {{"pyarrow", "pyspark", "jinja2", "pydantic", "rich.console", "importlib.metadata"}}
    print(sorted({{*heavy, "changewire.cli.commands.run"}} & set(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert ended.stdout.decode().splitlines()[-1] == "[]"
