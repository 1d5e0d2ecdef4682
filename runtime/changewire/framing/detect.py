"""Which shape an input has, detected from its first line or its first message."""

from collections.abc import Callable
from typing import Final

from changewire.framing.kcat import is_kcat
from changewire.framing.scan import BLANK, Scanner
from changewire.framing.source import BYTE_ORDER_MARK, Source

FALLBACK: Final = "json-lines"


def detect(source: Source) -> str:
    """Return the shape of `source`, without consuming any of it.

    Of text only the first line that is not blank is looked at, and of that what `Source.peek`
    shows; the second one too where the first is the beginning of an object.
    """
    from changewire.framing.msgpack_shapes import (
        msgpack_shape,  # who reads no file needs no msgpack
    )

    if shape := msgpack_shape(source):
        return shape
    line = _first_line(source.peek(_has_line))
    shape = next((shape for shape, fits in _RULES if fits(line)), FALLBACK)
    if _begins_object(line) and _is_whole_object(_second_line(source.peek(_has_two_lines))):
        return FALLBACK  # the first line is a damaged message, and no reason to lose the others
    return shape


def _first_line(head: bytes) -> bytes:
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(BLANK).partition(b"\n")[0]


def _has_line(head: bytes) -> bool:
    return b"\n" in head.removeprefix(BYTE_ORDER_MARK).lstrip(BLANK)


def _second_line(head: bytes) -> bytes:
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(BLANK).partition(b"\n")[2].partition(b"\n")[0]


def _has_two_lines(head: bytes) -> bool:
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(BLANK).count(b"\n") > 1


def _is_whole_object(line: bytes) -> bool:
    return line.startswith(b"{") and len(_scanned(line)[0]) == 1


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
    ("json-concatenated", _is_several_values),
    ("json-array", _begins_array),
    ("json-concatenated", _begins_object),
)
