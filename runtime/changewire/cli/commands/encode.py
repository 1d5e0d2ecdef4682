"""``changewire encode``."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from changewire.cli.ending import GOOD, REFUSED, ending
from changewire.cli.lines import write_data
from changewire.cli.options import TEXT_FORMATS, Inputs, format_option
from changewire.cli.records import records, say_issues
from changewire.cli.talk import counted, say
from changewire.codec import Codec, CodecError, DecodeError, codec
from changewire.codec.wire import PARSER_ERRORS

_SHAPE: Final = "json-lines"
_NULL: Final = b"null"


class _Line(msgspec.Struct, frozen=True):
    """A line as `decode` writes it."""

    model: str | None
    message: msgspec.Raw


TextFormat = Annotated[
    str,
    format_option(
        "--format",
        "-f",
        of=TEXT_FORMATS,
        help=f"Format of the messages: {', '.join(TEXT_FORMATS)}.",
    ),
]


@ending
def encode(inputs: Inputs = None, *, format: TextFormat) -> int:
    """Write each message as the bytes that are sent, one to a line.

    The input is lines as `changewire decode` writes them, or messages alone. Refused ones are named
    on standard error, with every issue.

    Example: changewire decode -f aerospike-json users.jsonl | changewire encode -f aerospike-json
    """
    writer = codec(format)
    good = refused = empty = 0
    for record in records(inputs, _SHAPE):
        try:
            data = _encoded(record.value or b"", writer)
        except CodecError as error:
            say_issues(record.position, error)
            refused += 1
            continue
        if data is None:
            empty += 1
            continue
        write_data(data)
        good += 1
    without = f", {empty:,} without a value left out" if empty else ""
    say(f"{counted(good, 'message')}, {refused:,} refused{without}")
    return REFUSED if refused else GOOD


def _encoded(line: bytes, writer: Codec) -> bytes | None:
    """Return the bytes of the message on a line; None where it says that there is none.

    Raises:
        CodecError: The message is refused.
    """
    try:
        found = msgspec.json.decode(line, type=_Line)
    except PARSER_ERRORS:  # it is a message alone, or no JSON, which the codec tells best
        return writer.encode(writer.decode(line))
    if bytes(found.message) == _NULL:
        return None
    try:
        return writer.encode(writer.decode(found.message))
    except DecodeError as error:  # an offset in the message would be taken for one in the line
        raise DecodeError(error.format, error.issues) from None
