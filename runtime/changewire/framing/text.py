"""Text inputs: a stream of bytes cut into lines or JSON values, each within a limit.

All raise `Damage` while iterating, where one is longer than `limit` bytes or the source is damaged.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, compress, repeat, takewhile

from changewire.framing.record import Damage, Lines, Record, numbered, too_long
from changewire.framing.scan import BLANK, Scanner
from changewire.framing.source import Source


def json_lines(source: Source, limit: int) -> Iterator[Lines]:
    """Yield the lines that are not blank, verbatim, those that end in one chunk together."""
    number = 0
    for every in _lines_of_chunks(source.text(), limit):
        if found := [*compress(every, map(bytes.strip, every, repeat(BLANK)))]:
            yield Lines(source.path, number, found)
            number += len(found)


def json_array(source: Source, limit: int) -> Iterator[Record]:
    """Yield the elements of the one JSON array that the source is, as `elements` does."""
    return numbered(source.path, elements(source.text(), limit))


def json_concatenated(source: Source, limit: int) -> Iterator[Record]:
    """Yield the JSON values that are back to back, with or without blanks between."""
    return numbered(source.path, values(source.text(), limit))


def lines(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield every line of `chunks`, blank ones too, without its LF or CRLF."""
    return chain.from_iterable(_lines_of_chunks(chunks, limit))


def _lines_of_chunks(chunks: Iterable[bytes], limit: int) -> Iterator[list[bytes]]:
    """Yield for each chunk the lines that end in it, and at last the line that is never ended."""
    begun = bytearray()
    for chunk in chunks:
        ended = chunk.split(b"\n")
        tail = ended.pop()
        if ended:
            ended[0] = bytes(begun) + ended[0]
            begun.clear()
        short = ended
        if max(map(len, ended), default=0) > limit:
            short = [*takewhile(lambda line: len(line) <= limit, ended)]
        # Most files have no CR at all, which is quicker to find out.
        has_cr = b"\r" in chunk or any(line.endswith(b"\r") for line in short[:1])
        yield [line.removesuffix(b"\r") for line in short] if has_cr else short
        if len(short) < len(ended):
            raise too_long(limit)
        begun += tail
        _bounded(begun, limit)
    yield [bytes(begun).removesuffix(b"\r")]


def values(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield the JSON values that are back to back in `chunks`."""
    return _scanned(Scanner(), chunks, limit)


def elements(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield the elements of the one JSON array in `chunks`, and what follows it.

    Damage is also a missing array, or one that ends behind an element without being closed.
    """
    scanner = Scanner(array=True)
    yield from _scanned(scanner, chunks, limit)
    if scanner.cut_off:
        raise Damage("the JSON array is never closed, so its end is missing; fetch the file again")


def _scanned(scanner: Scanner, chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    for chunk in chunks:
        for value in scanner.feed(chunk):
            _bounded(value, limit)
            yield value
        _bounded(scanner.pending, limit)
    if scanner.pending:
        yield bytes(scanner.pending)


def _bounded(data: bytes | bytearray, limit: int) -> None:
    if len(data) > limit:
        raise too_long(limit)
