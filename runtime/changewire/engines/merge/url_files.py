"""Files of tables at URLs, by which no thread of Arrow aborts the process as it ends."""

from __future__ import annotations

import atexit
import time
from functools import cache
from typing import Any, Final
from weakref import WeakSet

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler

_SECONDS: Final = 5
"""How long the end of the process waits for Arrow's threads."""


def await_files_of(system: Any) -> None:
    """Let the end of the process wait for files of a file system that delta-rs made for Arrow.

    A thread of Arrow lets go of a file, and of what it read, some time after a scan has its last
    row. One that does so while the interpreter ends aborts the process.
    """
    system.handler.__class__ = _Handler
    _open_files()


class _Handler(DeltaStorageHandler):
    """Knows which files Arrow has not let go of."""

    def open_input_file(self, path: str) -> Any:
        """Open a file."""
        file = self._handler.open_input_file(path)
        _open_files().add(file)
        return pa.PythonFile(file)


def await_threads() -> None:
    """Wait until Arrow's threads have let go of all files."""
    end = time.monotonic() + _SECONDS
    while len(_open_files()) and time.monotonic() < end:
        time.sleep(0.001)


@cache
def _open_files() -> WeakSet[Any]:
    """Return the files that Arrow has; the process ends once they are let go of."""
    atexit.register(await_threads)
    return WeakSet()
