"""Messages to Arrow, with the columns and builders of the Spark engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from changewire.changes import Digests, Image
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrow.decoded import DecodedStreams, MessageStreams
from changewire.engines.arrow.messages import Messages, opener
from changewire.engines.decode import Decoder
from changewire.engines.messages import MessageDecoder

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

RowsAs: TypeAlias = str | bytes | os.PathLike[str] | Mapping[str, Any] | Any
"""``json``, a `pyarrow.Schema` or struct type, a StructType of PySpark, or a schema of the row."""


def decode(
    messages: Messages,
    *,
    format: str,
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    rows: RowsAs = "json",
    shape: str = "auto",
) -> DecodedStreams:
    """Decode messages into Arrow record batches.

    Args:
        messages: A file or a folder; a message as bytes; a table of any library that speaks Arrow's
            PyCapsule interface (pyarrow, Polars, DuckDB, pandas), with a binary or string column
            ``value`` and, if they are there, Kafka's ``key``, ``topic``, ``partition``,
            ``offset``, ``timestamp`` and ``headers``; or an iterable of messages, of
            `changewire.framing.Record`, or of files.
        format: Public name of the format; ``auto`` takes for each message the one that it says
            it has, for topics that carry several.
        image: What a message holds of its row after a write.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table, to take names of its columns apart.
        digests: ``count`` or ``refuse`` Aerospike records whose digest is not that of their set and
            user key.
        rows: ``json`` gives ``before`` and ``after`` as exact JSON text. A `pyarrow.Schema` or
            struct type, a StructType of PySpark, or a schema of the row as in
            `changewire.spark.decode` gives them as columns of its types; it needs PySpark, but no
            Java.
        shape: Shape of files, see `changewire.framing.SHAPES`.

    Raises:
        ValueError: There is no such format, an option does not fit it, or `rows` is something else.
        TypeError: `messages` is something else.
        ImportError: A library is missing; the text names its extra.
    """
    decode_options = DecodeOptions(format, image, keys, families, digests)
    source, is_lasting = opener(messages, shape)
    decoder = decoder_of(rows, decode_options)
    return DecodedStreams(source, decoder, is_lasting=is_lasting)


def messages(messages: Messages, *, format: str, shape: str = "auto") -> MessageStreams:
    """Validate messages and give them as typed columns, as they are.

    The column ``variant`` names the variant of a message, ``content`` is a struct with a field for
    each property that any variant has (`message_type`). A field is NULL where its property is
    absent or null, and ``content`` for a record without value and a batch without elements.
    Properties that no schema names are in the field ``_extra``.

    Args:
        messages: As for `decode`.
        format: Public name of the format.
        shape: Shape of files, see `changewire.framing.SHAPES`.

    Raises:
        ValueError: There is no such format, or it is ``auto``.
        TypeError: `messages` is something else.
    """
    decode_options = DecodeOptions(format, elements_as="messages")
    source, is_lasting = opener(messages, shape)
    return MessageStreams(source, MessageDecoder(decode_options), is_lasting=is_lasting)


def decoder_of(rows: RowsAs, decode_options: DecodeOptions) -> Decoder:
    """Return what decodes into rows as asked for.

    Raises:
        ValueError: `rows` is nothing that rows can be.
        TypeError: A column is of a type that Spark does not know.
        ImportError: PySpark, or for a JSON Schema the extra ``codegen``, is not installed.
    """
    if isinstance(rows, str) and rows == "json":
        return Decoder(decode_options)
    if isinstance(rows, str) and rows == "variant":
        raise ValueError("rows='variant' is for Spark: Arrow has no type that it would be")
    try:
        from changewire.engines.spark.decode import struct_of
        from changewire.engines.spark.typed import TypedDecoder
    except ImportError as error:
        text = 'typed rows need PySpark, but no Java: pip install "changewire[spark]"'
        raise ImportError(text) from error
    is_arrow = isinstance(rows, (pa.Schema, pa.StructType))
    return TypedDecoder(
        decode_options, struct_of(_spark_type(rows) if is_arrow else rows, decode_options)
    )


def _spark_type(columns: pa.Schema | pa.StructType) -> StructType:
    """Return the type with columns of Arrow; their metadata stays."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    return StructType(
        [
            StructField(field.name, from_arrow_type(field.type), metadata=_metadata(field))
            for field in columns
        ]
    )


def _metadata(field: pa.Field) -> dict[str, str]:
    return {name.decode(): text.decode() for name, text in (field.metadata or {}).items()}
