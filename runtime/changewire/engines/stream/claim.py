"""One process writes to a log: a lock on its folder, which the system releases with the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

from changewire.engines.errors import OwnerError

if sys.platform != "win32":
    import fcntl

_SCHEME: Final = "://"


@contextmanager
def claimed(log: str) -> Generator[None, None, None]:
    """Keep other streams from a log; its folder exists.

    If a folder cannot be locked, as on Windows, some network drives and object stores, the
    second process learns of the first one when it commits.
    """
    if sys.platform == "win32" or _SCHEME in log:
        yield
        return
    descriptor = os.open(log, os.O_RDONLY)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OwnerError(
                    f"{log}: another stream writes to the log; stop it first: one process writes "
                    "to a log"
                ) from None
        yield
    finally:
        os.close(descriptor)
