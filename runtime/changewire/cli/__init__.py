"""The command line: data on standard output, notices on standard error."""

import io
import os
import sys
from importlib import import_module

from changewire.cli.closing import report
from changewire.extras import install

__all__ = ["main"]

_INTERRUPTED = 130
_UNABLE = 2
_LIBRARIES = frozenset({"rich", "typer"})


def main() -> None:
    """Run the command ``changewire``.

    Raises:
        SystemExit: Always; with 0 only if every message was valid.
    """
    # Read when pyarrow is imported: unlike the other pools this one gives memory back at once.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    _open_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Its encoding may lack characters of messages, as that of a pipe in Windows does.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        import_module("rich")  # before a command has begun that needs it
        from changewire.cli.app import app

        app(prog_name="changewire")  # however it was started
    except ImportError as error:
        if (error.name or "").partition(".")[0] in _LIBRARIES:
            sys.stderr.write(f"the command line needs an extra: {install('cli')}\n")
        else:
            report(error)
        sys.exit(_UNABLE)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - whatever it is, 1 is the code of rejected messages
        report(error)
        sys.exit(_UNABLE)


def _open_closed() -> None:
    """Open standard streams that whoever started the program has closed; results need theirs."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.stderr.write("standard output is closed\n")
        sys.exit(_UNABLE)
