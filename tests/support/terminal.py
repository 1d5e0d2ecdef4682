"""Programs in a real terminal: a pseudo-terminal of a given width, and what it shows."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    import pexpect

SECONDS: Final = 60
"""How long a program may take to show what is waited for."""

LINES: Final = 24

COLOUR: Final = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])(?:;\d+)*m")
"""What sets the colour of text: ECMA-48, SGR 30 to 37 and 90 to 97."""

_CONTROL: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|\(B)")
"""What moves, colours or names, and prints nothing: CSI, OSC, and the choice of a character set."""

_PASSED: Final = frozenset({"HOME", "JAVA_HOME", "LANG", "LC_ALL", "PATH", "PYTHONPATH"})
"""Variables that a program gets of ours; those about colours are the tests' own."""


def spawn(
    command: str,
    *arguments: str | Path,
    variables: Mapping[str, str] | None = None,
    columns: int = 80,
    folder: Path | None = None,
) -> pexpect.spawn[str]:
    """Start a program whose standard streams are a terminal.

    Args:
        command: Name of the program.
        arguments: Its arguments.
        variables: Variables of its environment, besides `_PASSED`.
        columns: Width of the terminal.
        folder: Folder to start it in.
    """
    module = pytest.importorskip("pexpect", reason="Windows has no pseudo-terminals")
    if not hasattr(module, "spawn"):
        pytest.skip("Windows has no pseudo-terminals")
    known = {name: value for name, value in os.environ.items() if name in _PASSED}
    started: pexpect.spawn[str] = module.spawn(
        command,
        [str(argument) for argument in arguments],
        dimensions=(LINES, columns),
        cwd=None if folder is None else str(folder),
        env={**known, "TERM": "xterm-256color", **(variables or {})},
        encoding="utf-8",
        timeout=SECONDS,
    )
    return started


def changewire(
    *arguments: str | Path, variables: Mapping[str, str] | None = None, columns: int = 80
) -> pexpect.spawn[str]:
    """Start a command of ours in a terminal; the arguments are those of `spawn`."""
    command = (sys.executable, "-m", "changewire.cli", *arguments)
    return spawn(*map(str, command), variables=variables, columns=columns)


def ended(program: pexpect.spawn[str]) -> tuple[str, int | None]:
    """Wait for the end of a program; return what it showed since, and its exit code."""
    shown: str = program.read()
    program.close()
    return shown, program.exitstatus


def plain(shown: str) -> list[str]:
    """Return the lines that a terminal shows, without what prints nothing."""
    return _CONTROL.sub("", shown).replace("\r\n", "\n").splitlines()


def styled(text: str) -> str:
    """Return a pattern of a text whose letters a program may style, as shells do."""
    return f"(?:{_CONTROL.pattern})*".join(map(re.escape, text))


def program_in(folder: Path) -> Path:
    """Write ``changewire`` as a program, for shells to find, and return its folder."""
    path = folder / "changewire"
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m changewire.cli "$@"\n')
    path.chmod(0o755)
    return folder
