"""Files to frame: written to disk or given as standard input, read in chunks of any size."""

import io
import itertools
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from changewire.framing import source


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return a function that writes bytes to a new file and returns its path."""
    folder = tmp_path_factory.mktemp("framing")
    numbers = itertools.count()

    def write(data: bytes, suffix: str = "") -> str:
        path = folder / f"{next(numbers)}{suffix}"
        path.write_bytes(data)
        return str(path)

    return write


class Pipe(io.RawIOBase):
    """A stream of bytes in which one cannot seek."""

    def __init__(self, data: bytes) -> None:
        """Prepare the stream."""
        super().__init__()
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer."""
        return self._data.readinto(buffer)


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes | io.RawIOBase], None]:
    """Return a function that makes bytes, or a stream of them, the standard input."""

    def stdin(data: bytes | io.RawIOBase) -> None:
        raw = Pipe(data) if isinstance(data, bytes) else data
        buffer = io.BufferedReader(raw, 2**12)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))

    return stdin


@pytest.fixture
def chunk_bytes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that sets the number of bytes of a chunk."""
    return lambda size: monkeypatch.setattr(source, "CHUNK_BYTES", size)
