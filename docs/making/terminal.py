"""A picture of the terminal: the output of the program for an example message, with colours."""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Generator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from changewire.cli.app import app

COMMAND: Final = "explain examples/aerospike_json/users.jsonl --number 95"
"""The arguments of the program; its output is the same in every run."""

_ROOT: Final = Path(__file__).parents[2]
_COLUMNS: Final = 136
_TERMINAL: Final = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(_COLUMNS)}
_IN_THE_WAY: Final = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "LINES")
_FONTS: Final = re.compile(r" *@font-face \{.*?\}\n", re.DOTALL)
"""The fonts of rich's frame, which would be loaded from the network."""


class _Screen(io.TextIOWrapper):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """Return True, so that colours are written."""
        return True


def picture() -> str:
    """Return the screen after a command, as SVG."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(screen()), soft_wrap=True)
    drawn = _FONTS.sub("", console.export_svg(title="changewire", unique_id="terminal"))
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def screen() -> str:
    """Return the output of the command on a terminal, with its escape sequences."""
    shown = io.BytesIO()
    screen = _Screen(shown, encoding="utf-8", write_through=True)
    with _environment(_TERMINAL), redirect_stdout(screen), redirect_stderr(screen):
        screen.write(f"\x1b[1m$ changewire {COMMAND}\x1b[0m\n")
        words = shlex.split(COMMAND.replace("examples/", f"{_ROOT}/examples/"))
        app(words, standalone_mode=False)
    return shown.getvalue().decode().replace(f"{_ROOT}/", "").rstrip()


@contextmanager
def _environment(values: Mapping[str, str]) -> Generator[None, None, None]:
    """Set variables for a while, and remove those on which colours depend."""
    kept = dict(os.environ)
    os.environ.update(values)
    for name in _IN_THE_WAY:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)
