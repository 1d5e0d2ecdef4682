"""Messages as they are: batches of records to rows with a column for each property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.codec import DecodeError, codec, rejection
from changewire.codec.registry import family
from changewire.engines.counts import Counts, MessageCounts
from changewire.engines.decode import Decoder
from changewire.engines.elements import (
    Elements,
    Found,
    element_columns,
    leniencies_column,
    rejection_columns,
)
from changewire.engines.layout import MESSAGE, MESSAGE_OUTPUTS
from changewire.engines.places import Places
from changewire.engines.variants import Titles, builder, other_variant, titles_of
from changewire_messages.change import Rejection
from changewire_messages.columns import spread


class MessageRow(NamedTuple):
    """What columns are made of.

    Attributes:
        variant: Title of the schema of the message, of a batch if it has no element; None for a
            record without value.
        model: The message; None for a record without value and an empty batch.
    """

    variant: str | None = None
    model: Any = None


class MessageDecoder(Decoder):
    """Decodes batches into rows of messages, whose columns are those that the generator makes."""

    outputs: ClassVar[Mapping[str, str]] = MESSAGE_OUTPUTS

    def __init__(self, decode_options: DecodeOptions, titles: Titles = None) -> None:
        """Remember how messages are read, and the titles of the variants that are asked for.

        A message of another variant is a dead letter.
        """
        super().__init__(decode_options)
        self._titles = titles

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Found]:
        del key
        if value is None:
            return [(MessageRow(), [])]
        name = self.decode_options.format
        models = codec(name).decode_all(self.decode_options.stripped(value))
        if not models:
            return [(MessageRow(family(name).roles["batch"]), [])]
        return [self._row(model, number, name) for number, model in enumerate(models)]

    def _row(self, model: Any, number: int, format: str) -> Found:
        if type(model) is Rejection:
            return model, []
        variant = family(format).variant_of(model)
        if self._titles is not None and variant not in self._titles:
            return rejection(DecodeError(format, [other_variant(self._titles)]), number), []
        return MessageRow(variant, model), codec(format).leniencies(model)

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        rows = [row or MessageRow() for row in elements.rows]
        models = [row.model for row in rows]
        own = {
            "variant": pa.array([row.variant for row in rows], pa.string()),
            "content": spread(models, builder(self.decode_options.format, self._titles)),
        }
        dead, leniencies = rejection_columns(elements), leniencies_column(elements)
        return element_columns(batch, MESSAGE, own, dead, leniencies, places)


def counts_of(decode_options: DecodeOptions) -> Counts:
    """Return counts of nothing yet, of the rows that are asked for."""
    return MessageCounts() if decode_options.elements_as == "messages" else Counts()


def message_type(format: str, variant: str | Sequence[str] | None = None) -> pa.StructType:
    """Return the Arrow type of the messages of a format: the column ``content`` of `messages`.

    It has a field for each property that any variant has.

    Args:
        format: Public name of the format.
        variant: A variant, or several: then the fields are those of these, with their types.

    Raises:
        ValueError: There is no such format or variant, or two variants differ in a type.
    """
    return builder(format, titles_of(format, variant))([]).type
