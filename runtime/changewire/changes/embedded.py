"""Schemas that are in messages: which formats have them, and the columns that they declare."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from changewire.changes.adapters import Dialect, adapter
from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.changes.vendors import BUILT_IN
from changewire.codec import codec
from changewire.codec.wire import PARSER_ERRORS
from changewire_messages.hooks import exact_number

_PARSE: Final = msgspec.json.Decoder(float_hook=exact_number).decode


def check_format(format: str) -> None:
    """Refuse a format whose messages carry no schema; with `AUTO` each message has its own."""
    if format != AUTO:
        dialect(format)


def dialect(format: str) -> Dialect:
    """Return what is known of the schemas in the messages of a format."""
    if format == AUTO:
        raise ValueError("a schema from a message is read by the format that it has: name it")
    codec(format)
    found = adapter(format).schemas
    if found is None:
        others = ", ".join(name for name in sorted(BUILT_IN) if adapter(name).schemas)
        raise ValueError(f"messages of {format} carry no schema; those of {others} do")
    return found


def parsed(schema: str | bytes) -> Any:
    """Return the parsed JSON text of a schema; its numbers are exact."""
    try:
        return _PARSE(schema)
    except PARSER_ERRORS as error:
        raise ValueError(f"a schema is JSON text: {error}") from None


def row_type(
    schema: Mapping[str, Any] | str | bytes, format: str, options: DecodeOptions
) -> dict[str, Any]:
    """Return the column type of the rows that a schema from a message declares."""
    known = dialect(format)
    found = known.row_type(parsed(schema) if isinstance(schema, (str, bytes)) else schema, options)
    if not found["fields"]:
        raise ValueError("the schema declares no column of a row")
    return found
