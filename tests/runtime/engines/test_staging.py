"""Outputs are replaced together, and what killed runs leave is removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from changewire.engines.staging import staging

NAMES = ("changes", "dead_letters", "report.json")

WAITS = """
import sys, time
from changewire.engines.staging import staging
with staging(sys.argv[1], ("changes",)) as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


def publish(output: Path, text: str) -> None:
    """Replace all outputs by such that hold a text."""
    with staging(str(output), NAMES) as folder:
        fill(folder, text)


def fill(folder: Path, text: str) -> None:
    """Write all outputs."""
    for name in NAMES[:-1]:
        (folder / name).mkdir()
        (folder / name / "part").write_text(text, encoding="utf-8")
    (folder / NAMES[-1]).write_text(text, encoding="utf-8")


def held(output: Path) -> dict[str, str]:
    """Return what the files in a folder hold."""
    files = [path for path in output.rglob("*") if path.is_file()]
    return {path.relative_to(output).as_posix(): path.read_text("utf-8") for path in files}


def whole(text: str) -> dict[str, str]:
    """Return what outputs hold that were written with a text."""
    return dict.fromkeys(("changes/part", "dead_letters/part", "report.json"), text)


@contextmanager
def another_run(output: Path) -> Generator[tuple[subprocess.Popen[str], Path], None, None]:
    """Start a run in another process, which waits; give it and its folder."""
    command = [sys.executable, "-c", WAITS, str(output)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_outputs_are_replaced_together(tmp_path: Path) -> None:
    """Nothing else is left, and other files stay."""
    publish(tmp_path, "first")
    (tmp_path / "notes").write_text("mine", encoding="utf-8")
    publish(tmp_path, "second")
    assert held(tmp_path) == {**whole("second"), "notes": "mine"}


def test_an_error_leaves_the_outputs_as_they_were(tmp_path: Path) -> None:
    """Until all is written nothing is replaced."""
    publish(tmp_path, "first")
    with pytest.raises(FileNotFoundError), staging(str(tmp_path), NAMES) as folder:
        (folder / "changes" / "part").write_text("no such folder", encoding="utf-8")
    assert held(tmp_path) == whole("first")


def test_an_error_leaves_no_new_folder(tmp_path: Path) -> None:
    """An output folder that was not there is not there after an error either."""
    with pytest.raises(FileNotFoundError), staging(str(tmp_path / "out"), NAMES) as folder:
        (folder / "changes" / "part").write_text("no such folder", encoding="utf-8")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("number", range(1, 7))
def test_an_error_amid_the_replacement_is_undone(tmp_path: Path, number: int) -> None:
    """Whichever of the six renames fails, all outputs are those of the earlier run."""
    publish(tmp_path, "first")
    rename = Path.replace
    calls: list[Path] = []

    def failing(path: Path, target: Path) -> Path:
        calls.append(path)
        if len(calls) == number:
            raise OSError(5, "Input/output error")
        return rename(path, target)

    with (
        patch.object(Path, "replace", failing),
        pytest.raises(OSError, match="Input/output error"),
        staging(str(tmp_path), NAMES) as folder,
    ):
        fill(folder, "second")
    assert held(tmp_path) == whole("first")


@pytest.mark.parametrize("number", range(6))
def test_the_report_says_that_the_outputs_are_whole(tmp_path: Path, number: int) -> None:
    """A process that ends amid the renames leaves no report, or one of all outputs beside it."""
    publish(tmp_path, "first")
    child = os.fork()
    if not child:
        rename = Path.replace
        calls: list[Path] = []

        def ending(path: Path, target: Path) -> Path:
            calls.append(path)
            return os._exit(9) if len(calls) > number else rename(path, target)

        with patch.object(Path, "replace", ending), staging(str(tmp_path), NAMES) as folder:
            fill(folder, "second")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    found = {path: t for path, t in held(tmp_path).items() if not path.startswith("_staging-")}
    assert ("report.json" in found) == (number == 0)
    assert number or found == whole("first")
    publish(tmp_path, "third")
    assert held(tmp_path) == whole("third")


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    """The next run removes its folder; that of a run that is going on stays."""
    with another_run(tmp_path) as (killed, left):
        killed.send_signal(signal.SIGKILL)
    assert left.is_dir()
    with another_run(tmp_path) as (_, busy):
        assert not left.exists()
        publish(tmp_path, "first")
        assert busy.is_dir()
    deadline = time.monotonic() + 10
    while busy.exists() and time.monotonic() < deadline:
        publish(tmp_path, "second")
    assert held(tmp_path) == whole("second")
    assert [path.name for path in tmp_path.glob("_*")] == []
