"""Messages as they are: batches of records to rows with a column for each property."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.codec import codec
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
from changewire_messages.change import Rejection
from changewire_messages.columns import spread

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where the generator puts an underscore to make the name of a function of a title."""


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

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Found]:
        del key
        if value is None:
            return [(MessageRow(), [])]
        name = self.decode_options.format
        models = codec(name).decode_all(value)
        if not models:
            return [(MessageRow(family(name).roles["batch"]), [])]
        return [_row(model, name) for model in models]

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        rows = [row or MessageRow() for row in elements.rows]
        models = [row.model for row in rows]
        own = {
            "variant": pa.array([row.variant for row in rows], pa.string()),
            "content": spread(models, _builder(self.decode_options.format)),
        }
        dead, leniencies = rejection_columns(elements), leniencies_column(elements)
        return element_columns(batch, MESSAGE, own, dead, leniencies, places)


def _row(model: Any, format: str) -> Found:
    if type(model) is Rejection:
        return model, []
    row = MessageRow(family(format).variant_of(model), model)
    return row, codec(format).leniencies(model)


def counts_of(decode_options: DecodeOptions) -> Counts:
    """Return counts of nothing yet, of the rows that are asked for."""
    return MessageCounts() if decode_options.elements_as == "messages" else Counts()


def message_type(format: str) -> pa.StructType:
    """Return the Arrow type of the messages of a format: the column ``content`` of `messages`.

    It has a field for each property that any variant has.

    Args:
        format: Public name of the format.

    Raises:
        ValueError: There is no such format.
    """
    return _builder(format)([]).type


@cache
def _builder(format: str) -> Callable[[list[Any]], pa.StructArray]:
    """Return the generated function from the messages of a format to their column."""
    generated = family(format)
    title = generated.roles["message"]
    builder: Callable[[list[Any]], pa.StructArray] = getattr(
        generated.part("arrow"), f"{snake(title)}_array"
    )
    return builder


def snake(title: str) -> str:
    """Return the title of a schema in snake_case, as generated functions and types have it."""
    return _CAMEL.sub("_", title).lower()
