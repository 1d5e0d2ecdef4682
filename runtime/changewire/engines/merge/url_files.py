"""Files of tables at URLs, by which no thread of Arrow aborts the process as it ends."""

from __future__ import annotations

import atexit
import time
from typing import Any, Final
from weakref import WeakSet

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler

_SECONDS: Final = 5
"""How long the end of the process waits for Arrow's threads."""

_open: Final[WeakSet[Any]] = WeakSet()


class UrlFiles(DeltaStorageHandler):
    """Lets Arrow read files by delta-rs, and knows which of them it has not let go of.

    A thread of Arrow lets go of a file, and of what it read, some time after a scan has its last
    row. One that does so while the interpreter ends aborts the process.
    """

    def open_input_file(self, path: str) -> Any:
        """Open a file."""
        file = self._handler.open_input_file(path)
        _open.add(file)
        return pa.PythonFile(file)


@atexit.register
def await_threads() -> None:
    """Wait until Arrow's threads have let go of all files."""
    end = time.monotonic() + _SECONDS
    while len(_open) and time.monotonic() < end:
        time.sleep(0.001)
