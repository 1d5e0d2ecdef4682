"""Runs the blocks of a page from top to bottom, as a reader would, and compares what they show."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from tests.docs.pages import Block, all_blocks, in_sections

_SHELL: Final = re.compile(r"[|<>;&$`*]")
"""What only a shell can read."""

_VARIES: Final = re.compile(r"\d+\.\d s with \w+ [\d.]+")


def run_page(
    page: str, folder: Path, names: dict[str, Any] | None = None, sections: Sequence[str] = ()
) -> dict[str, Any]:
    """Run the blocks of a page in a folder, and return the names that its Python knows then.

    With sections only the blocks below these headings run.

    All Python of a page is one program. A block ``console`` has commands behind ``$`` and what
    they show, where ``...`` stands for anything.

    Raises:
        AssertionError: A block shows something else than the page says.
    """
    known = {} if names is None else names
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in in_sections(page, *sections) if sections else all_blocks(page):
            run_block(block, known)
    return known


def run_block(block: Block, names: dict[str, Any]) -> None:
    """Run one block in the working directory, unless it is data or its page says why not.

    Raises:
        AssertionError: It shows something else than the page says.
    """
    if block.reason is None and block.language in _RUN:
        _RUN[block.language](block.code, names, f"{block.page}:{block.line}")


def _python(code: str, names: dict[str, Any], place: str) -> None:
    exec(compile(code, place, "exec"), names)  # noqa: S102 - our own text


def _sh(code: str, _: dict[str, Any], place: str) -> None:
    ended = _in_shell(code)
    assert ended.returncode == 0, f"{place}: {ended.stderr}"


def _console(code: str, _: dict[str, Any], place: str) -> None:
    for command, expected in _calls(code):
        shown = _VARIES.sub("SECONDS", _shown(command).rstrip("\n"))
        pattern = re.escape(_VARIES.sub("SECONDS", expected.rstrip("\n"))).replace(r"\.\.\.", ".*")
        assert re.fullmatch(pattern, shown, re.DOTALL), f"{place}: {command}\n{shown}"


_RUN: Final = {"python": _python, "sh": _sh, "console": _console}


def _calls(code: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a block with what it shows."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        found = re.match(r"(?:.*\\\n)*.*\n?", part)
        command = found[0] if found else part
        yield command.strip(), part[len(command) :]


def _shown(command: str) -> str:
    """Return what a command shows, standard error last; our own needs no process of its own."""
    if command.startswith("changewire ") and not _SHELL.search(command):
        # Pages that do not use the command run without the extra `cli`.
        from typer.testing import CliRunner

        from changewire.cli.app import app

        words = shlex.split(command.replace("\\\n", ""))[1:]
        ended = CliRunner(env={"COLUMNS": "100"}).invoke(app, words)
        output = ended.stdout + ended.stderr
    else:
        done = _in_shell(command)
        output = done.stdout + done.stderr
    return "\n".join(line.rstrip() for line in output.splitlines())


def _in_shell(command: str) -> subprocess.CompletedProcess[str]:
    ours = f'changewire() {{ "{sys.executable}" -m changewire.cli "$@"; }}'
    return subprocess.run(
        ["bash", "-c", f"{ours}\n{command}"],  # noqa: S607 - what a reader has
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
