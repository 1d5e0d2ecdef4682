"""Messages as they are: batches of records to rows with a column for each property."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.codec import DecodeError, Issue, codec, rejection
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
from changewire.engines.layout import DEAD_LETTER, MESSAGE
from changewire.engines.places import Places
from changewire_messages.change import Rejection
from changewire_messages.columns import spread

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where the generator puts an underscore to make the name of a function of a title."""

Titles: TypeAlias = tuple[str, ...] | None
"""Titles of variants; None for all."""

Build: TypeAlias = Callable[[list[Any]], pa.StructArray]
"""From messages to their column."""


class MessageRow(NamedTuple):
    """Source of columns: the title of a schema and the message, or None for what is empty.

    A record without value has neither, a batch without elements has a title alone.
    """

    variant: str | None = None
    model: Any = None


class MessageDecoder(Decoder):
    """Decodes batches into rows of messages, whose columns are those that the generator makes.

    A message of a variant whose title is not asked for is a dead letter.
    """

    kinds: ClassVar[tuple[str, ...]] = (MESSAGE, DEAD_LETTER)

    def __init__(self, decode_options: DecodeOptions, titles: Titles = None) -> None:
        """Remember how messages are read, and the titles of the variants that are asked for."""
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
            expected = f"a message of {', '.join(self._titles)}"
            issue = Issue("", "other-variant", "variants", expected)
            return rejection(DecodeError(format, [issue]), number), []
        return MessageRow(variant, model), codec(format).leniencies(model)

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        rows = [row or MessageRow() for row in elements.rows]
        models = [row.model for row in rows]
        own = {
            "variant": pa.array([row.variant for row in rows], pa.string()),
            "content": spread(models, _builder(self.decode_options.format, self._titles)),
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
    return _builder(format, titles_of(format, variant))([]).type


def titles_of(format: str, variants: str | Sequence[str] | None) -> Titles:
    """Return the titles of variants that a user names: one, several, or None for all."""
    if variants is None:
        return None
    found = (variants,) if isinstance(variants, str) else tuple(dict.fromkeys(variants))
    known = family(format).titles
    unknown = [title for title in found if title not in known]
    if unknown or not found:
        wrong = ", ".join(map(repr, unknown)) or "no variant"
        raise ValueError(f"{wrong}: variants of {format} are {', '.join(known)}")
    return found


def snake(title: str) -> str:
    """Return the title of a schema in snake_case, as generated functions and types have it."""
    return _CAMEL.sub("_", title).lower()


@cache
def _builder(format: str, titles: Titles = None) -> Build:
    """Return the function from messages of some variants to their column.

    Each property has the type that these variants give it. In the column of all variants it is
    JSON text if an open variant takes any value for it.
    """
    generated = family(format)
    arrow = generated.part("arrow")
    whole: Build = getattr(arrow, f"{snake(generated.roles['message'])}_array")
    if titles is None:
        return whole
    builders = {one: getattr(arrow, f"{snake(one)}_array") for one in titles}
    build = _builder_of_parts(builders, format)
    if generated.payload is None:
        return build
    attribute, name = generated.payload

    def build_wrapped(models: list[Any]) -> pa.StructArray:
        array = whole(models)
        fields = dict(zip(array.type.names, array.flatten(), strict=True))
        fields[name] = build([getattr(model, attribute) for model in models])
        return pa.StructArray.from_arrays([*fields.values()], [*fields])

    return build_wrapped


class Types(NamedTuple):
    """How a library has types of columns: their structs, and the types of fields."""

    is_struct: Callable[[Any], bool]
    of: Callable[[Any], Any]
    retyped: Callable[[Any, Any], Any]
    struct: Callable[[list[Any]], Any]


_ARROW: Final = Types(pa.types.is_struct, attrgetter("type"), pa.Field.with_type, pa.struct)


def merged(kinds: Mapping[str, Any], types: Types) -> Any:
    """Return the struct with the fields of the structs of all variants."""
    found: dict[str, tuple[str, Any]] = {}
    for variant, kind in kinds.items():
        for field in kind:
            first, there = found.setdefault(field.name, (variant, field))
            one, other = types.of(there), types.of(field)
            if one == other:
                continue
            if not (types.is_struct(one) and types.is_struct(other)):
                names = f"{field.name!r} has different types in {first} and {variant}"
                raise ValueError(f"{names}: ask for them apart")
            both = merged({first: one, variant: other}, types)
            found[field.name] = first, types.retyped(there, both)
    return types.struct([field for _, field in found.values()])


def _builder_of_parts(builders: Mapping[str, Build], format: str) -> Build:
    """Return the function from models, which are of several variants, to their column."""
    kind = merged({title: build([]).type for title, build in builders.items()}, _ARROW)
    variant_of = family(format).variant_of

    def build(models: list[Any]) -> pa.StructArray:
        titles = [variant_of(model) for model in models]
        order: list[int] = []
        arrays: list[pa.StructArray] = []
        for title, build_one in builders.items():
            places = [place for place, one in enumerate(titles) if one == title]
            order += places
            arrays.append(build_one([models[place] for place in places]).cast(kind))
        back = sorted(range(len(order)), key=order.__getitem__)
        joined: pa.StructArray = pa.concat_arrays(arrays).take(pa.array(back, pa.int64()))
        return joined

    return build
