"""Progress on a terminal: one line that turns while work is done, and is gone when it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from changewire.cli.notices import notice
from changewire.cli.talk import console, say


class Shown(NamedTuple):
    """What writes while progress is shown.

    Attributes:
        is_shown: Whether there is a terminal to show it on.
        show: Puts a text into the line; does nothing where there is none.
        say: Says a sentence, above the line where there is one.
    """

    is_shown: bool
    show: Callable[[str], None]
    say: Callable[[str], None]


@contextmanager
def progress(text: str, *, as_json: bool) -> Generator[Shown, None, None]:
    """Show a line with a text and the time, on a terminal and without ``--json``."""
    talk = console()
    # FORCE_COLOR makes a terminal of a pipe, for colours; a line that turns has no place there.
    if as_json or not (talk.is_terminal and sys.stderr.isatty()):
        yield Shown(is_shown=False, show=_nothing, say=partial(notice, "note", as_json=as_json))
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=talk, transient=True) as bar:
        task = bar.add_task(text, total=None)

        def show(line: str) -> None:
            bar.update(task, description=line)

        yield Shown(is_shown=True, show=show, say=partial(say, on=talk))


def _nothing(_: str) -> None:
    pass
