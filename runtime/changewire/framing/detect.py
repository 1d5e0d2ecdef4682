"""Which shape an input has, detected from its first line or its first message."""

from collections.abc import Callable
from typing import Final

from changewire.framing.console import is_console
from changewire.framing.scan import Scanner
from changewire.framing.source import BYTE_ORDER_MARK, Source
from changewire.framing.tools import is_kcat, is_rpk

FALLBACK: Final = "json-lines"
_CONCATENATED: Final = "json-concatenated"


def detect(source: Source) -> str:
    """Return the shape of `source`, without consuming any of it.

    Of text only the first line that is not blank is looked at, and of that what `Source.peek`
    shows; if it is the beginning of an object, also the second one, and the whole object.

    Raises:
        Damage: its first line may be of two shapes.
    """
    from changewire.framing.messagepack import msgpack_shape  # who reads no file needs no msgpack

    if shape := msgpack_shape(source):
        return shape
    line = source.first_lines(1)[0]
    shape = next((shape for shape, fits in _RULES if fits(line)), FALLBACK)
    if _begins_object(line):
        second = source.first_lines(2)[1:2]
        if any(line.startswith(b"{") and len(_scanned(line)[0]) == 1 for line in second):
            return FALLBACK  # the first line is a damaged message, and no reason to lose the others
    if shape == _CONCATENATED:
        first = _scanned(source.peek(lambda head: bool(_scanned(head)[0])))[0][:1]
        shape = next((tool for tool, fits in _TOOLS if any(map(fits, first))), shape)
    return shape


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


def _scanned(text: bytes) -> tuple[list[bytes], bytes]:
    scanner = Scanner()
    return scanner.feed(text.removeprefix(BYTE_ORDER_MARK)), bytes(scanner.pending)


# The first rule that fits decides.
_TOOLS: Final = (("kcat", is_kcat), ("rpk", is_rpk))
_RULES: Final[tuple[tuple[str, Callable[[bytes], bool]], ...]] = (
    ("parquet", _is_parquet),
    *_TOOLS,
    ("console", is_console),
    (_CONCATENATED, _is_several_values),
    ("json-array", _begins_array),
    (_CONCATENATED, _begins_object),
)
