"""Which shape an input has, detected from its first line or its first message."""

from collections.abc import Callable
from typing import Final

from changewire.framing.console import is_console
from changewire.framing.kcat import is_kcat
from changewire.framing.scan import BLANK, Scanner
from changewire.framing.source import BYTE_ORDER_MARK, Source

FALLBACK: Final = "json-lines"
_TWO: Final = 2


def detect(source: Source) -> str:
    """Return the shape of `source`, without consuming any of it.

    Of text only the first line that is not blank is looked at, and of that what `Source.peek`
    shows; the second one too if the first is the beginning of an object.
    """
    from changewire.framing.messagepack import msgpack_shape  # who reads no file needs no msgpack

    if shape := msgpack_shape(source):
        return shape
    line = _lines(source.peek(lambda head: len(_lines(head)) > 1))[0]
    shape = next((shape for shape, fits in _RULES if fits(line)), FALLBACK)
    if _begins_object(line):
        second = _lines(source.peek(lambda head: len(_lines(head)) > _TWO))[1:_TWO]
        if any(line.startswith(b"{") and len(_scanned(line)[0]) == 1 for line in second):
            return FALLBACK  # the first line is a damaged message, and no reason to lose the others
    return shape


def _lines(head: bytes) -> list[bytes]:
    """Return the first two lines, and what follows them; the last of all may go on."""
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(BLANK).split(b"\n", _TWO)


def _is_parquet(line: bytes) -> bool:
    return line.startswith(b"PAR1")


def _is_several_values(line: bytes) -> bool:
    complete, begun = _scanned(line)
    values = [*complete, begun] if begun else complete
    return len(values) > 1 and all(value.startswith((b"{", b"[")) for value in values)


def _begins_array(line: bytes) -> bool:
    return line.startswith(b"[") and not _scanned(line)[0]


def _begins_object(line: bytes) -> bool:
    return line.startswith(b"{") and not _scanned(line)[0]


def _scanned(line: bytes) -> tuple[list[bytes], bytes]:
    scanner = Scanner()
    return scanner.feed(line), bytes(scanner.pending)


# The first rule that fits decides.
_RULES: Final[tuple[tuple[str, Callable[[bytes], bool]], ...]] = (
    ("parquet", _is_parquet),
    ("kcat", is_kcat),
    ("console", is_console),
    ("json-concatenated", _is_several_values),
    ("json-array", _begins_array),
    ("json-concatenated", _begins_object),
)
