"""Data on standard output: lines of JSON, and encoded messages."""

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, TextIO

import msgspec
import typer

from changewire.codec import encoding_of, json_form
from changewire_messages.support import Alone, Extra, OpenTag

# What acts on a terminal or turns text around, in UTF-8: DEL and C1 controls, direction marks,
# line separators. JSON allows it in text, and its escape means the same.
_ACTIVE = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)

_LENGTH_BYTES: Final = 4

STDOUT: Final = "-"
"""Name of standard output among files."""

CONCATENATED: Final = "msgpack-concatenated"


class Lines:
    """Writes values, each as JSON on a line of its own."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Write to a stream, by default standard output.

        Lines on a terminal and on standard error are flushed at once.
        """
        self._stream = sys.stdout if stream is None else stream
        self._write = self._stream.buffer.write
        self._encode = msgspec.json.Encoder(enc_hook=_plain).encode
        self._at_once = stream is sys.stderr or self._stream.isatty()

    def write(self, *parts: object) -> None:
        """Write one line: the properties of all parts, of which none is empty, in one object."""
        texts = [self._encode(part)[1:-1] for part in parts]
        line = (
            b"{" + b",".join(texts).replace(b"\n", b" ") + b"}\n"
        )  # a model may keep text as sent
        self._write(_ACTIVE.sub(_escaped, line))
        if self._at_once:
            self._stream.flush()


def json_text(value: object) -> bytes:
    """Return a value of a message as JSON text, in which numbers keep every digit."""
    return msgspec.json.Encoder(decimal_format="number").encode(json_form(value))


def write_data(data: bytes) -> None:
    """Write JSON text as a line: byte for byte, but escaped for a terminal."""
    at_once = sys.stdout.isatty()
    sys.stdout.buffer.write((_ACTIVE.sub(_escaped, data) if at_once else data) + b"\n")
    if at_once:
        sys.stdout.flush()


def writer_of(format: str, shape: str) -> Callable[[bytes], object]:
    """Return what writes the encoded messages of a format.

    Raises:
        typer.BadParameter: They are MessagePack, and standard output is a terminal.
    """
    if encoding_of(format) == "json":
        return write_data
    if sys.stdout.isatty():
        text = "MessagePack is bytes, which act on a terminal: write them to a file or a pipe"
        raise typer.BadParameter(text)
    framed = BINARY_SHAPES[shape]
    return lambda data: sys.stdout.buffer.write(framed(data))


BINARY_SHAPES: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    CONCATENATED: lambda data: data,
    "msgpack-length-prefixed": lambda data: len(data).to_bytes(_LENGTH_BYTES, "big") + data,
}
"""What frames a message in MessagePack, by the shape of the output."""


def _escaped(found: re.Match[bytes]) -> bytes:
    return f"\\u{ord(found[0].decode()):04x}".encode()


def _plain(value: Any) -> object:
    """Encode values of models only: unknown properties, an open tag, what JSON lacks."""
    if isinstance(value, Extra):
        return dict(value)
    return str(value) if isinstance(value, (Alone, OpenTag)) else json_form(value)
