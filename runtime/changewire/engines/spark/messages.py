"""A DataFrame of messages to typed columns, which hold the messages as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from changewire.changes.decode_options import DecodeOptions
from changewire.codec.registry import family
from changewire.engines.counts import MessageCounts
from changewire.engines.layout import MESSAGE, MESSAGE_OUTPUTS
from changewire.engines.messages import MessageDecoder, snake
from changewire.engines.spark.decode import DecodedFrames, RowsAs, decoded_by, mapped
from changewire.engines.spark.frames import Frames, counted, totals
from changewire.engines.spark.types import message_rows, nullable


@dataclass(frozen=True)
class MessageFrames(Frames):
    """Messages as typed columns: every element is a message or a dead letter.

    Each access reads the source again unless `rows` is persisted, which `changewire.spark.write`
    does.

    Attributes:
        rows: One row for each element, with its `kind`.
    """

    outputs: ClassVar[Mapping[str, str]] = MESSAGE_OUTPUTS

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
        groups = self.rows.groupBy("kind", "variant", "code", "leniencies").agg(*totals())
        return counted(groups, MessageCounts())


def messages(messages: DataFrame, *, format: str) -> MessageFrames:
    """Validate the messages of a DataFrame and give them as typed columns, as they are.

    The column ``variant`` names the variant of a message, ``content`` is a struct with a field for
    each property that any variant has (`message_type`). A field is NULL where its property is
    absent or null, and ``content`` for a record without value and a batch without elements.
    Properties that no schema names are in the field ``_extra``.

    Args:
        messages: Has a binary or string column ``value``; other columns are kept as by `decode`.
        format: Public name of the format.

    Raises:
        ValueError: There is no such format, or it is ``auto``.
        TypeError: There is no binary or string column ``value``.
    """
    return messages_by(DecodeOptions(format, elements_as="messages"), messages)


def messages_by(decode_options: DecodeOptions, messages: DataFrame) -> MessageFrames:
    """Return the messages of a DataFrame as typed columns, as `messages` does."""
    schema = message_rows(message_type(decode_options.format))
    return MessageFrames(mapped(messages, MessageDecoder(decode_options), schema))


def frames_by(
    decode_options: DecodeOptions, messages: DataFrame, rows: RowsAs = "json"
) -> DecodedFrames | MessageFrames:
    """Return what is asked for: messages, or changes whose rows are as `decode` says."""
    if decode_options.elements_as == "messages":
        return messages_by(decode_options, messages)
    return decoded_by(decode_options, messages, rows)


def message_type(format: str) -> StructType:
    """Return the Spark type of the messages of a format: the column ``content`` of `messages`.

    It has a field for each property that any variant has; what the schema says of the property is
    the field's comment. Every field may be NULL, so that a table can take the next version of the
    format too.

    Args:
        format: Public name of the format.

    Raises:
        ValueError: There is no such format.
    """
    generated = family(format)
    found = getattr(generated.part("spark"), snake(generated.roles["message"]).upper())
    return cast("StructType", nullable(found))
