"""How a command ends: with which code, and with one sentence instead of a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, ParamSpec, TextIO

import typer
from typer.core import TyperGroup

from changewire.cli.help_text import help_text
from changewire.cli.notices import notice
from changewire.codec import FormatError
from changewire.framing import FramingError

GOOD: Final = 0
REFUSED: Final = 1
UNABLE: Final = 2
SIGNALLED: Final = 128
"""Added to the number of the signal that ended a command, as shells do."""

INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

P = ParamSpec("P")


def ending(command: Callable[P, int]) -> Callable[P, None]:
    """Turn a function that returns an exit code into a command.

    A file that cannot be read or written, and a library or a package of formats that is missing or
    broken, are one sentence on standard error and `UNABLE`; with ``--json`` a line of JSON. Who
    interrupts hears nothing.
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        code = UNABLE
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except KeyboardInterrupt:
            code = INTERRUPTED
        except (FormatError, FramingError, OSError, ImportError) as error:
            notice("error", _sentence(error), as_json=bool(kwargs.get("as_json")))
        raise typer.Exit(code)

    # Typer follows __wrapped__ for the options; what it calls returns nothing.
    run.__annotations__ = {**command.__annotations__, "return": None}
    run.__doc__ = help_text(command.__doc__ or "")
    return run


class QuietGroup(TyperGroup):
    """Commands that end quietly, with `BROKEN_PIPE`, when who reads their output closes it.

    This is done here and not around a command, because a command's help is written before it runs.
    Typer itself would end with 1, the code of refused messages.
    """

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command that was named."""
        with _quiet_pipe():
            return super().invoke(ctx)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Read the options before the command, and do what they ask for."""
        with _quiet_pipe():
            return super().parse_args(ctx, args)


@contextmanager
def _quiet_pipe() -> Generator[None, None, None]:
    try:
        yield
    except BrokenPipeError:
        _forget(sys.stdout)
        _forget(sys.stderr)
        raise typer.Exit(BROKEN_PIPE) from None


def _sentence(error: Exception) -> str:
    """Return why a command could not do its work."""
    if isinstance(error, ImportError):
        return _extra(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}"
    return str(error)


def _extra(error: ImportError) -> str:
    text = str(error)
    return text if "pip install" in text else f'{text}: pip install "changewire[cli]"'


def _forget(stream: TextIO) -> None:
    """Let nothing that waits in a closed pipe be written when the program ends."""
    try:
        stream.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
