"""Messages to Arrow, with the columns and builders of the Spark engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from changewire.changes.decode_options import DecodeKeywords, DecodeOptions
from changewire.engines.arrow.decoded import DecodedStreams, MessageStreams
from changewire.engines.arrow.messages import Messages, opener
from changewire.engines.messages import MessageDecoder, titles_of
from changewire.engines.typed.decode import decoder_of
from changewire.engines.typed.schemas import RowsAs, embedded_columns

if TYPE_CHECKING:
    from typing_extensions import Unpack


def decode(
    messages: Messages,
    *,
    format: str,
    row_schema: RowsAs = "json",
    shape: str = "auto",
    **options: Unpack[DecodeKeywords],
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
        row_schema: ``json`` gives ``before`` and ``after`` as exact JSON text. A `pyarrow.Schema`
            or struct type, a StructType of PySpark, or a schema of the row as in
            `changewire.spark.decode` gives them as columns of its types: a value that does not fit
            its column makes the element a dead letter, and columns that are not named are kept in
            ``attributes``, as ``undeclared``. ``embedded`` gives all columns that the schemas in
            the messages declare, which are read once for it, here.
        shape: Shape of files, see `changewire.framing.SHAPES`.
        **options: What messages do not say themselves, see `DecodeKeywords`.

    Raises:
        ValueError: There is no such format, an option does not fit it, or `row_schema` is something
            else.
        TypeError: `messages` is something else.
        ImportError: A library is missing; the text names its extra. A JSON Schema needs
            ``codegen``.
    """
    decode_options = DecodeOptions(format, **options)
    source, is_lasting = opener(messages, shape)
    if isinstance(row_schema, str) and row_schema == "embedded":
        if not is_lasting:
            raise ValueError("row_schema='embedded' reads messages twice: give a list, or files")
        row_schema = embedded_columns(source(), decode_options)
    decoder = decoder_of(decode_options, row_schema)
    return DecodedStreams(source, decoder, is_lasting=is_lasting)


def messages(
    messages: Messages,
    *,
    format: str,
    variants: Sequence[str] | None = None,
    strip_registry_prefix: bool = False,
    shape: str = "auto",
) -> MessageStreams:
    """Validate messages and give them as typed columns, as they are.

    The column ``variant`` names the variant of a message, ``content`` is a struct with a field for
    each property that any variant has (`message_type`). A field is NULL where its property is
    absent or null, and ``content`` for a record without value and a batch without elements.
    Properties that no schema names are in the field ``_extra``.

    Args:
        messages: As for `decode`.
        format: Public name of the format.
        variants: The variants that are wanted, as the column ``variant`` names them; None for all.
            Then the fields of ``content`` have the types that these variants give them, where an
            open variant would make them JSON text; a message of another variant is a dead letter
            with the code ``other-variant``.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values.
        shape: Shape of files, see `changewire.framing.SHAPES`.

    Raises:
        ValueError: There is no such format, or it is ``auto``, or it has no such variant.
        TypeError: `messages` is something else.
    """
    decode_options = DecodeOptions(
        format, elements_as="messages", strip_registry_prefix=strip_registry_prefix
    )
    decoder = MessageDecoder(decode_options, titles_of(format, variants))
    source, is_lasting = opener(messages, shape)
    return MessageStreams(source, decoder, is_lasting=is_lasting)
