"""The bytes of an input: opened, inflated, handed out in chunks, with a look ahead."""

import contextlib
import io
import itertools
import re
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Final, cast

from changewire.framing.inflate import inflate
from changewire.framing.record import Damage, FramingError
from changewire.framing.scan import BLANK

CHUNK_BYTES: Final = 2**20
PEEK_BYTES: Final = 2**20
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

# It begins with its own byte order mark, or with JSON whose every other byte is 0.
_UTF_16: Final = re.compile(
    rb"\xff\xfe(?:.\0|\Z)|(?:[ \t\r\n]\0)*[\[{]\0[\t\r\n -~]\0"
    rb"|\xfe\xff(?:\0|\Z)|(?:\0[ \t\r\n])*\0[\[{]\0[\t\r\n -~]",
    re.DOTALL,
)
_CHARACTERS: Final = 4
"""Bytes of two characters of UTF-16, one of which is 0."""
_HEAD_BYTES: Final = 64


class Source:
    """One input as a stream of chunks that are never empty. It can be read once.

    Attributes:
        path: path of the file, ``-`` for standard input.
        plain: whether it is an uncompressed file that can be opened again by its path.
    """

    def __init__(self, path: str, chunks: Iterator[bytes], *, plain: bool) -> None:
        """Take over the `chunks` of the input at `path`."""
        self.path = path
        self.plain = plain
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        """Return what has not been read yet; if it cannot be read, `Damage` is raised."""
        return self._chunks

    def peek(self, enough: Callable[[bytes], bool]) -> bytes:
        """Return the bytes ahead, without consuming them, as soon as `enough` is true of them.

        At most `PEEK_BYTES`, and less where the input ends or is damaged before.
        """
        taken: list[bytes] = []
        seen = b""
        rest = self._chunks
        try:
            while len(seen) < PEEK_BYTES and not enough(seen):
                taken.append(next(self._chunks))
                seen += taken[-1]
        except StopIteration:
            rest = iter(())
        except Damage as damage:
            rest = _raising(damage)
        self._chunks = itertools.chain(taken, rest)
        return seen[:PEEK_BYTES]

    def first_lines(self, count: int) -> list[bytes]:
        """Return so many lines ahead, after blank ones, and what follows; the last may go on."""
        ahead = self.peek(lambda seen: len(_lines(seen, count)) > count)
        return _lines(ahead, count)

    def text(self) -> Iterator[bytes]:
        """Return what has not been read yet, without a UTF-8 byte order mark at its beginning.

        Raises:
            FramingError: it is UTF-16.
        """
        ahead = self.peek(_is_enough)
        if _UTF_16.match(ahead):
            reason = (
                "the text is UTF-16, as Windows PowerShell redirects output; convert it to UTF-8,"
                " with iconv -f UTF-16LE -t UTF-8 or Set-Content -Encoding utf8"
            )
            raise FramingError(self.path, None, reason)
        marked = ahead.startswith(BYTE_ORDER_MARK)
        return _without(len(BYTE_ORDER_MARK), self._chunks) if marked else self._chunks


@contextlib.contextmanager
def opened(path: str) -> Generator[Source, None, None]:
    """Open the file at `path`, or standard input for ``-``; inflate it if it is gzip or zstd.

    Raises:
        FramingError: the file cannot be opened, or is compressed by something else.
        ImportError: the file is zstd and pyarrow is not installed.
    """
    with contextlib.ExitStack() as stack:
        try:
            stream = _stream(path) if path == "-" else stack.enter_context(_stream(path))
            inflated, chunks = inflate(stream, CHUNK_BYTES)
        except OSError as error:
            reason = f"the file cannot be opened ({error.strerror or error}); check its path"
            raise FramingError(path, None, reason) from error
        except Damage as damage:
            raise FramingError(path, None, str(damage)) from None
        yield Source(path, chunks, plain=path != "-" and not inflated and stream.seekable())


def _stream(path: str) -> io.BufferedIOBase:
    if path == "-":
        return cast("io.BufferedIOBase", sys.stdin.buffer)
    return Path(path).open("rb")


def _is_enough(head: bytes) -> bool:
    """Return whether the first bytes of a text say whether it is UTF-16."""
    is_short = len(head) < _CHARACTERS and b"\n" not in head
    return len(head) >= _HEAD_BYTES or not (is_short or b"\0" in head)


def _lines(head: bytes, count: int) -> list[bytes]:
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(BLANK).split(b"\n", count)


def _raising(damage: Damage) -> Iterator[bytes]:
    yield from ()
    raise damage


def _without(count: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        if rest := chunk[count:]:
            yield rest
        count = max(0, count - len(chunk))
