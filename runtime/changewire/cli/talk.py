"""What is said to people, on standard error: plain text, colours on a terminal only."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from changewire.report.text import visible

_LINE = 1000


class _Console(Console):
    """A console that leaves a closed pipe to the command; rich would end the program with 1."""

    def on_broken_pipe(self) -> None:
        """Say that the pipe is closed, as writing to it did."""
        raise BrokenPipeError


def console(*, on_stdout: bool = False) -> Console:
    """Return a console that takes no text for markup; standard error unless asked otherwise."""
    stream = sys.stdout if on_stdout else sys.stderr
    return _Console(file=stream, markup=False, emoji=False, highlight=False, soft_wrap=True)


def say(text: str, style: str = "", on: Console | None = None) -> None:
    """Write one line, on standard error unless asked; what does not print in it is escaped."""
    (on or console()).print(Text(visible(text, _LINE), style))


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun: 1 message, 1,234 messages."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
