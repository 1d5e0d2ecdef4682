"""Notices and progress on standard error: sentences for people, or with ``--json`` lines of JSON.

Text is plain, with colours on a terminal only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from changewire.cli.stdout import Lines
from changewire.report.text import visible

if TYPE_CHECKING:
    from rich.console import Console

Kind: TypeAlias = Literal["error", "note", "rejected", "loss", "totals"]

_LONGEST_LINE: Final = 1000


def console(*, on_stdout: bool = False) -> Console:
    """Return a console that takes no text for markup; standard error unless asked otherwise."""
    from rich.console import Console  # here, because help and many commands do not need it

    class PipedConsole(Console):
        """A console that leaves a closed pipe to the command; rich would end with 1."""

        def on_broken_pipe(self) -> None:
            """Raise, as writing to the pipe did."""
            raise BrokenPipeError

    stream = sys.stdout if on_stdout else sys.stderr
    return PipedConsole(file=stream, markup=False, emoji=False, highlight=False, soft_wrap=True)


def say(text: str, style: str = "", on: Console | None = None) -> None:
    """Write one line, on standard error unless asked; what does not print in it is escaped."""
    from rich.text import Text

    (on or console()).print(Text(visible(text, _LONGEST_LINE), style))


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun: 1 message, 1,234 messages."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def notice(
    kind: Kind, text: str | list[str], *facts: object, as_json: bool, style: str = ""
) -> None:
    """Write one notice to standard error.

    Args:
        kind: Property ``notice`` of the line of JSON.
        text: The notice for people, one line or several; for programs too, as ``message``, if
            there are no facts.
        facts: Objects whose properties are in the line of JSON; none of them is empty.
        as_json: Whether ``--json`` was given.
        style: Style of the sentence on a terminal.
    """
    if as_json:
        message = text if isinstance(text, str) else "\n".join(text)
        Lines(sys.stderr).write({"notice": kind}, *(facts or ({"message": message},)))
    else:
        for line in [text] if isinstance(text, str) else text:
            say(line, style)


class ProgressLine(NamedTuple):
    """What writes while progress is shown.

    Attributes:
        is_shown: Whether there is a terminal to show it on.
        show: Puts a text into the line; does nothing without one.
        say: Writes a sentence, above the line if there is one.
    """

    is_shown: bool
    show: Callable[[str], None]
    say: Callable[[str], None]


@contextmanager
def progress(text: str, *, as_json: bool) -> Generator[ProgressLine, None, None]:
    """Show a line with a text and the time, on a terminal and without ``--json``."""
    shown = console()
    # FORCE_COLOR makes a terminal of a pipe, for colours; a line that turns has no place there.
    if as_json or not (shown.is_terminal and sys.stderr.isatty()):
        note = partial(notice, "note", as_json=as_json)
        yield ProgressLine(is_shown=False, show=_show_nothing, say=note)
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=shown, transient=True) as bar:
        task = bar.add_task(text, total=None)

        def show(line: str) -> None:
            bar.update(task, description=line)

        yield ProgressLine(is_shown=True, show=show, say=partial(say, on=shown))


def _show_nothing(_: str) -> None:
    pass


@contextmanager
def batch_lines(*, as_json: bool = False) -> Generator[Callable[[str], None], None, None]:
    """Give what reports the batches of a stream: in one line of a terminal, or a line each."""
    with progress("waiting for the first batch", as_json=as_json) as line:
        yield line.show if line.is_shown else line.say
