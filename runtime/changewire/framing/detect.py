"""Which shape an input has, told from its first line."""

from collections.abc import Callable
from typing import Final

from changewire.framing.kcat import is_kcat
from changewire.framing.scan import BLANK, Scanner
from changewire.framing.source import BYTE_ORDER_MARK, Source

FALLBACK: Final = "json-lines"


def detect(source: Source) -> str:
    """Return the shape of `source`, without consuming any of it.

    Only its first line that is not blank is looked at, and of that what `Source.peek` shows.
    """
    head = source.peek(_has_line)
    line = _first_line(head)
    return next((shape for shape, fits in _RULES if fits(line)), FALLBACK)


def _first_line(head: bytes) -> bytes:
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(BLANK).partition(b"\n")[0]


def _has_line(head: bytes) -> bool:
    return b"\n" in head.removeprefix(BYTE_ORDER_MARK).lstrip(BLANK)


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
