"""What decodes messages into the rows that a user asks for."""

from __future__ import annotations

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.messages import MessageDecoder
from changewire.engines.typed.decode import TypedDecoder
from changewire.engines.typed.schemas import RowsAs, given_columns


def decoder_of(decode_options: DecodeOptions, rows: RowsAs = "json") -> Decoder:
    """Return what decodes messages.

    Args:
        decode_options: How messages are read, and whether they are kept as they are.
        rows: What rows of changes are: ``json``, or what `given_columns` takes.

    Raises:
        ValueError: `rows` is nothing that rows can be, or a row has no column of such a type.
        ImportError: `rows` is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    is_json = isinstance(rows, str) and rows == "json"
    if decode_options.elements_as == "messages":
        if not is_json:
            raise ValueError("rows are those of changes; messages are kept as they are")
        return MessageDecoder(decode_options)
    if is_json:
        return Decoder(decode_options)
    return TypedDecoder(decode_options, typed_columns(rows, decode_options))


def typed_columns(rows: RowsAs, decode_options: DecodeOptions | None) -> pa.Schema:
    """Return the columns of typed rows in Arrow, as `given_columns`.

    Raises:
        ValueError: `rows` is nothing that rows can be, or a row has no column of such a type.
        ImportError: `rows` is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    if isinstance(rows, str) and rows == "variant":
        raise ValueError("rows='variant' is for Spark: Arrow has no type that it would be")
    return given_columns(rows, decode_options)
