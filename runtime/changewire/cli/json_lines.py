"""Messages in lines of JSON, as ``changewire decode`` writes them, or alone."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from changewire.codec import Codec, DecodeError
from changewire.codec.wire import PARSER_ERRORS

_NULL: Final = b"null"


class _Line(msgspec.Struct, frozen=True):
    """A line as `decode` writes it."""

    model: str | None
    message: msgspec.Raw


def model_on(line: bytes, reader: Codec) -> Any:
    """Return the model of the message on a line; None where the line says that there is none.

    Raises:
        DecodeError: The message is refused.
    """
    try:
        found = msgspec.json.decode(line, type=_Line)
    except PARSER_ERRORS:  # it is a message alone, or no JSON, which the codec tells best
        return reader.from_json(line)
    if bytes(found.message) == _NULL:
        return None
    try:
        return reader.from_json(found.message)
    except DecodeError as error:  # an offset in the message would be taken for one in the line
        raise DecodeError(error.format, error.issues) from None
