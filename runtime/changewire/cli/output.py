"""Encoded messages on standard output: JSON as lines, MessagePack in a shape that can be read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Final

import typer

from changewire.cli.lines import write_data
from changewire.cli.options import choice_option
from changewire.codec import encoding_of

_LENGTH_BYTES: Final = 4

CONCATENATED: Final = "msgpack-concatenated"


def _write_message(data: bytes) -> None:
    sys.stdout.buffer.write(data)


def _write_prefixed(data: bytes) -> None:
    sys.stdout.buffer.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)


_WRITERS: Final[Mapping[str, Callable[[bytes], None]]] = {
    CONCATENATED: _write_message,
    "msgpack-length-prefixed": _write_prefixed,
}

ToShape = Annotated[
    str,
    choice_option(
        "--to-shape",
        of=tuple(_WRITERS),
        metavar="SHAPE",
        help=f"How MessagePack stands in the output: {', '.join(_WRITERS)}.",
    ),
]


def writer_of(format: str, shape: str) -> Callable[[bytes], None]:
    """Return what writes the encoded messages of a format.

    Args:
        format: Public name of the format.
        shape: How messages that are no text stand behind each other.

    Raises:
        BadParameter: They are no text, and would go to a terminal.
    """
    if encoding_of(format) == "json":
        return write_data
    if sys.stdout.isatty():
        text = "MessagePack is bytes, which act on a terminal: write them to a file or a pipe"
        raise typer.BadParameter(text)
    return _WRITERS[shape]
