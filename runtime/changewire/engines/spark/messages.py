"""A DataFrame of messages to typed columns, which have the messages as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import DataType, StructField, StructType

from changewire.changes.decode_options import DecodeOptions
from changewire.codec.registry import family
from changewire.engines.counts import MessageCounts
from changewire.engines.layout import MESSAGE
from changewire.engines.messages import MessageDecoder, Types, merged, snake, titles_of
from changewire.engines.spark.decode import DecodedFrames, RowsAs, decoded_by, mapped
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.types import message_rows, nullable


@dataclass(frozen=True)
class MessageFrames(Frames):
    """Messages as typed columns: every element is a message or a dead letter.

    Each access reads the source again unless `rows` is persisted, which `changewire.spark.write`
    does.

    Attributes:
        rows: One row for each element, with its `kind`.
    """

    @property
    def messages(self) -> DataFrame:
        """Messages: their variant and content, and in which record they came."""
        return self.of_kind(MESSAGE)

    @cached_property
    def counts(self) -> MessageCounts:
        """Counts over all rows, checked; one job over the rows.

        Raises:
            ConservationError: Decoded rows do not add up.
        """
        return self._counted(MessageCounts(), F.col("variant"))


def messages(
    messages: DataFrame,
    *,
    format: str,
    variants: Sequence[str] | None = None,
    strip_registry_prefix: bool = False,
) -> MessageFrames:
    """Validate the messages of a DataFrame and give them as typed columns, as they are.

    The column ``variant`` names the variant of a message, ``content`` is a struct with a field for
    each property that any variant has (`message_type`). A field is NULL where its property is
    absent or null, and ``content`` for a record without value and a batch without elements.
    Properties that no schema names are in the field ``_extra``.

    Args:
        messages: Has a binary or string column ``value``; other columns are kept as by `decode`.
        format: Public name of the format.
        variants: The variants that are wanted, as the column ``variant`` names them; None for all.
            Then the fields of ``content`` have the types that these variants give them, where an
            open variant would make them JSON text; a message of another variant is a dead letter
            with the code ``other-variant``.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values.

    Raises:
        ValueError: There is no such format, or it is ``auto``, or it has no such variant.
        TypeError: There is no binary or string column ``value``.
    """
    decode_options = DecodeOptions(
        format, elements_as="messages", strip_registry_prefix=strip_registry_prefix
    )
    return messages_by(decode_options, messages, variants)


def messages_by(
    decode_options: DecodeOptions, messages: DataFrame, variants: Sequence[str] | None = None
) -> MessageFrames:
    """Return the messages of a DataFrame as typed columns, as `messages` does."""
    titles = titles_of(decode_options.format, variants)
    schema = message_rows(message_type(decode_options.format, titles))
    return MessageFrames(mapped(messages, MessageDecoder(decode_options, titles), schema))


def frames_by(
    decode_options: DecodeOptions, messages: DataFrame, row_schema: RowsAs = "json"
) -> DecodedFrames | MessageFrames:
    """Return what is asked for: messages, or changes whose rows are as `decode` says."""
    if decode_options.elements_as == "messages":
        return messages_by(decode_options, messages)
    return decoded_by(decode_options, messages, row_schema)


def message_type(format: str, variant: str | Sequence[str] | None = None) -> StructType:
    """Return the Spark type of the messages of a format: the column ``content`` of `messages`.

    It has a field for each property that any variant has; the text of the schema about the property
    is the field's comment. Every field may be NULL, so that a table can take the next version of
    the format too.

    Args:
        format: Public name of the format.
        variant: A variant, or several: then the fields are those of these, with their types.

    Raises:
        ValueError: There is no such format or variant, or two variants differ in a type.
    """
    generated = family(format)
    titles = titles_of(format, variant)
    named = {title: snake(title).upper() for title in (generated.roles["message"], *(titles or ()))}
    kinds = {n: nullable(getattr(generated.part("spark"), name)) for n, name in named.items()}
    whole: StructType = kinds[generated.roles["message"]]
    if titles is None:
        return whole
    found: StructType = merged({title: kinds[title] for title in titles}, _SPARK)
    if generated.payload is None:
        return found
    wrapped = generated.payload[1]
    return StructType([_retyped(f, found) if f.name == wrapped else f for f in whole.fields])


def _retyped(field: StructField, kind: DataType) -> StructField:
    return StructField(field.name, kind, nullable=True, metadata=field.metadata)


def _is_struct(kind: DataType) -> bool:
    return isinstance(kind, StructType)


_SPARK: Final = Types(_is_struct, attrgetter("dataType"), _retyped, StructType)
