"""The command line: data on standard output, talk on standard error."""

from __future__ import annotations

import sys

__all__ = ["main"]

_INTERRUPTED = 130
_WRONG_USAGE = 2
_LIBRARIES = frozenset({"rich", "typer"})


def main() -> None:
    """Run the command ``changewire``.

    Raises:
        SystemExit: Always; with 0 only where every message was good.
    """
    try:
        from changewire.cli.app import app

        app(prog_name="changewire")  # however it was started
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES:
            raise
        sys.stderr.write('the command line needs an extra: pip install "changewire[cli]"\n')
        sys.exit(_WRONG_USAGE)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
