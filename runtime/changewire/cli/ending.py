"""How a command ends: with which code, and with one sentence instead of a traceback."""

import errno
import logging
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import cleandoc
from typing import Final, ParamSpec

import typer

from changewire.cli.closing import forget
from changewire.cli.flags import FileError, flags_of, in_flags
from changewire.cli.stderr import notice
from changewire.codec import FormatError
from changewire.engines.errors import JobError, StreamError
from changewire.extras import install
from changewire.framing import FramingError

VALID: Final = 0
REJECTED: Final = 1
UNABLE: Final = 2
SIGNALLED: Final = 128
"""Added to the number of the signal that ended a command, as shells do."""

INTERRUPTED: Final = 130

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Reasons why a file cannot be written that is open."""

EXAMPLE: Final = "Example: "
_AS_IT_IS: Final = "\b"
"""A paragraph that begins with it is not wrapped: https://click.palletsprojects.com/documentation/."""

P = ParamSpec("P")


def ending(command: Callable[P, int]) -> Callable[P, None]:
    """Turn a function that returns an exit code into a command.

    A file that cannot be read or written, a folder that is not a log, and a missing or broken
    library or package of formats, are one sentence on standard error and `UNABLE`; with ``--json``
    a line of JSON. So is the reason of a `JobError`. Sentences and wrong usage name the options of
    the command, whatever the parameters are called, unless they are of a file. So do warnings that
    are logged, which are notes. An interrupt ends the command silently.
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        code = UNABLE
        is_json = bool(kwargs.get("as_json"))
        try:
            with _warnings_as_notes(command, as_json=is_json):
                code = command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except KeyboardInterrupt:
            code = INTERRUPTED
        except typer.BadParameter as error:
            if not isinstance(error, FileError):
                error.message = in_flags(error.message, flags_of(command))
            raise
        except (FormatError, FramingError, JobError, OSError, ImportError, StreamError) as error:
            text = in_flags(_sentence(error), flags_of(command))
            lines = text.splitlines() if isinstance(error, JobError) else text
            notice("error", lines, as_json=is_json)
            forget(sys.stdout, sys.stderr)
            code = UNABLE  # also where the command ended well, and its output was not written
        raise typer.Exit(code)

    # Typer follows __wrapped__ for the options; what it calls returns nothing.
    run.__annotations__ = {**command.__annotations__, "return": None}
    run.__doc__ = help_text(command.__doc__ or "")
    return run


@contextmanager
def _warnings_as_notes(
    command: Callable[..., int], *, as_json: bool
) -> Generator[None, None, None]:
    """Write warnings of the library as notes, which name options of the command."""

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            notice("note", in_flags(record.getMessage(), flags_of(command)), as_json=as_json)

    logger, notes = logging.getLogger("changewire"), Notes(logging.WARNING)
    logger.addHandler(notes)
    try:
        yield
    finally:
        logger.removeHandler(notes)


def ended(text: str, totals: Mapping[str, object], *, as_json: bool) -> int:
    """Report the result of a command; return its exit code by the number that was ``rejected``."""
    sys.stdout.flush()  # totals are of what was written
    notice("totals", text, totals, as_json=as_json)
    return REJECTED if totals["rejected"] else VALID


def _sentence(error: Exception) -> str:
    """Return why a command could not do its work."""
    if isinstance(error, ImportError):
        text = str(error)
        return text if "pip install" in text else f"{text}: {install('cli')}"
    if isinstance(error, OSError):
        return f"{error.filename or unnamed(error)}: {error.strerror or error}"
    return str(error)


def unnamed(error: OSError) -> str:
    """Return what an error of the system is about that names no file."""
    return "the output" if error.errno in _FULL else "a file"


def help_text(docstring: str) -> str:
    """Return a docstring whose last paragraph, the example, keeps its lines: it can be copied."""
    text, _, example = cleandoc(docstring).partition(f"\n\n{EXAMPLE}")
    return f"{text}\n\n{_AS_IT_IS}\n{EXAMPLE.strip()}\n  {example}" if example else text
