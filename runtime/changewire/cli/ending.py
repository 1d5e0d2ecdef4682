"""How a command ends: with which code, and with one sentence instead of a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TextIO

import typer

from changewire.cli.talk import say
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
    broken, are one sentence on standard error and `UNABLE`. Who closes the pipe, or interrupts,
    hears nothing.
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        code = UNABLE
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget(sys.stdout)
            _forget(sys.stderr)
            code = BROKEN_PIPE
        except KeyboardInterrupt:
            code = INTERRUPTED
        except (FormatError, FramingError) as error:
            say(str(error))
        except OSError as error:
            say(f"{error.filename or 'a file'}: {error.strerror or error}")
        except ImportError as error:
            say(_extra(error))
        raise typer.Exit(code)

    # Typer follows __wrapped__ for the options; what it calls returns nothing.
    run.__annotations__ = {**command.__annotations__, "return": None}
    return run


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
