"""How the program ends if no command can say why."""

import os
import sys
from typing import TextIO


def forget(*streams: TextIO) -> None:
    """Let nothing that waits to be written, but cannot be, be written when the program ends."""
    for stream in streams:
        try:
            stream.flush()
        except (OSError, ValueError):  # noqa: PERF203 - each stream may be another file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def report(error: Exception) -> None:
    """Write why the program ends: a sentence if the system says it, else a traceback."""
    try:
        if isinstance(error, OSError):
            sys.stderr.write(f"{error.filename or 'the output'}: {error.strerror or error}\n")
        else:
            sys.excepthook(type(error), error, error.__traceback__)
    except OSError:
        pass  # standard error cannot be written either: the exit code says it
    forget(sys.stdout, sys.stderr)
