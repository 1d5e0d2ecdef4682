"""Plain, gzip and zstd input, distinguished by its first bytes; other compressions are named."""

import gzip
import importlib
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, Final

from changewire.extras import install
from changewire.framing.record import Damage

# Arrow throws away what it inflated in the step in which it meets damage, so steps are small:
# so many bytes in, and so many out.
ZSTD_IN_BYTES: Final = 2**10
ZSTD_OUT_BYTES: Final = 2**8


def inflate(stream: io.BufferedIOBase, size: int) -> tuple[bool, Iterator[bytes]]:
    """Return whether `stream` is compressed, and its plain bytes in chunks of about `size` bytes.

    Raises:
        OSError: the first bytes cannot be read.
        ImportError: it is zstd and pyarrow is not installed.
        Damage: it is compressed by something else; or, while iterating, the bytes cannot be read
            further.
    """
    head = b""
    while len(head) < _MAGIC_BYTES and (more := stream.read1(_MAGIC_BYTES - len(head))):
        head += more
    whole = io.BufferedReader(_Rejoined(head, stream), size)
    found = _MAGIC.match(head)
    if found is None:
        return False, _plain(whole, size)
    name = str(found.lastgroup)
    if name not in _INFLATERS:
        raise Damage(f"the file is compressed by {name}; unpack it, or compress it by gzip or zstd")
    return True, _INFLATERS[name](whole, size)


class _Rejoined(io.RawIOBase):
    """A stream whose first bytes were read already, whole again, and at most `most` at a time."""

    def __init__(self, head: bytes, rest: io.BufferedIOBase, most: int = sys.maxsize) -> None:
        super().__init__()
        self._most = most
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self._most)
        data = self._head[:size] or self._rest.read1(size)
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def _plain(stream: io.BufferedIOBase, size: int) -> Iterator[bytes]:
    try:
        while chunk := stream.read1(size):
            yield chunk
    except OSError as error:
        reason = f"the input cannot be read further ({error.strerror or error}); try again"
        raise Damage(reason) from error


def _gzip(stream: io.BufferedIOBase, size: int) -> Iterator[bytes]:
    inflated = gzip.GzipFile(fileobj=stream, mode="rb")
    return _gathered(partial(inflated.read1, size), size)


def _zstd(stream: io.BufferedIOBase, size: int) -> Iterator[bytes]:
    arrow = require("pyarrow", purpose="reading zstd")
    file = arrow.PythonFile(_Rejoined(b"", stream, ZSTD_IN_BYTES), mode="r")
    inflated = arrow.CompressedInputStream(file, "zstd")
    return _gathered(partial(inflated.read, ZSTD_OUT_BYTES), size)


def _gathered(read: Callable[[], bytes], size: int) -> Iterator[bytes]:
    """Yield chunks of inflated bytes, of which each step reads few; also those before damage."""
    chunk = bytearray()
    try:
        while data := read():
            chunk += data
            if len(chunk) >= size:
                yield bytes(chunk)
                chunk.clear()
    except (EOFError, OSError, zlib.error) as error:
        if chunk:
            yield bytes(chunk)
        raise _broken(error) from error
    if chunk:
        yield bytes(chunk)


def _broken(error: Exception) -> Damage:
    reason = f"the compressed data is cut off or damaged here ({error}); fetch the file again"
    return Damage(reason)


_INFLATERS: Final[dict[str, Callable[[io.BufferedIOBase, int], Iterator[bytes]]]] = {
    "gzip": _gzip,
    "zstd": _zstd,
}
_MAGIC_BYTES: Final = 4
_MAGIC: Final = re.compile(
    # Files of zstd may begin with a frame that is skipped, as those of pzstd do.
    rb"(?P<gzip>\x1f\x8b)|(?P<zstd>\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)"
    rb"|(?P<bzip2>BZh[1-9])|(?P<xz>\xfd7zX)|(?P<lz4>\x04\x22\x4d\x18)|(?P<zip>PK\x03\x04)"
)


def require(module: str, *, purpose: str) -> ModuleType:
    """Import `module`, a part of pyarrow, for `purpose` (such as ``reading Parquet``).

    Raises:
        ImportError: pyarrow is not installed; the text names the extra that brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        text = f"{purpose} needs pyarrow: {install('cli')}"
        raise ImportError(text, name=error.name) from error
