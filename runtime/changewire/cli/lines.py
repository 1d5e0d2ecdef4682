"""Lines of JSON, fit for a program and for a terminal."""

from __future__ import annotations

import re
import sys
from typing import Any, TextIO

import msgspec

from changewire.codec import json_form
from changewire_messages.support import Extra, OpenTag

# What acts on a terminal or turns text around, in UTF-8: DEL and C1 controls, direction marks,
# line separators. JSON allows it in text, and its escape means the same.
_ACTIVE = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)


class Lines:
    """Writes values, each as JSON on a line of its own."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Look at where a stream leads to; standard output unless given.

        Lines on standard error, as all that is written there, wait for nothing.
        """
        self._stream = sys.stdout if stream is None else stream
        self._write = self._stream.buffer.write
        self._encode = msgspec.json.Encoder(enc_hook=_plain).encode
        self._at_once = stream is sys.stderr or self._stream.isatty()

    def write(self, *parts: object) -> None:
        """Write one line: the properties of all parts, in one object.

        Args:
            parts: Objects; none of them is empty.
        """
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
    """Write JSON text as a line: byte for byte, except to a terminal, where nothing acts on it."""
    at_once = sys.stdout.isatty()
    sys.stdout.buffer.write((_ACTIVE.sub(_escaped, data) if at_once else data) + b"\n")
    if at_once:
        sys.stdout.flush()


def _escaped(found: re.Match[bytes]) -> bytes:
    return f"\\u{ord(found[0].decode()):04x}".encode()


def _plain(value: Any) -> object:
    """Encode what only a model holds: unknown properties, an open tag, what JSON lacks."""
    if isinstance(value, Extra):
        return dict(value)
    return str(value) if isinstance(value, OpenTag) else json_form(value)
