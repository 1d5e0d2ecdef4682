"""Columns of messages of some variants: each property has the type that these give it.

A column for all variants has a field for each property of any; where an open variant takes any
value for it, the field is JSON text. Without that variant the field has its type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa

from changewire.codec import Issue
from changewire.codec.registry import family

OTHER: Final = "other-variant"
"""Code of a message of a variant that was not asked for."""

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where the generator puts an underscore to make the name of a function of a title."""

Titles: TypeAlias = tuple[str, ...] | None
"""Titles of variants; None for all."""

Build: TypeAlias = Callable[[list[Any]], pa.StructArray]
"""From messages to their column."""


def titles_of(format: str, variants: str | Sequence[str] | None) -> Titles:
    """Return the titles of variants that a user names: one, several, or None for all.

    Raises:
        ValueError: The format has no such variant, or none is named.
    """
    if variants is None:
        return None
    found = (variants,) if isinstance(variants, str) else tuple(dict.fromkeys(variants))
    known = family(format).titles
    unknown = [title for title in found if title not in known]
    if unknown or not found:
        wrong = ", ".join(map(repr, unknown)) or "no variant"
        raise ValueError(f"{wrong}: variants of {format} are {', '.join(known)}")
    return found


def other_variant(titles: Sequence[str]) -> Issue:
    """Return the issue of a message of a variant that was not asked for."""
    return Issue("", OTHER, "variants", f"a message of {', '.join(titles)}")


@cache
def builder(format: str, titles: Titles = None) -> Build:
    """Return the function from messages of some variants to their column."""
    generated = family(format)
    arrow = generated.part("arrow")
    whole: Build = getattr(arrow, f"{snake(generated.roles['message'])}_array")
    if titles is None:
        return whole
    build = _builder_of_parts(
        {one: getattr(arrow, f"{snake(one)}_array") for one in titles}, format
    )
    wrapped = generated.payload
    if wrapped is None:
        return build
    attribute, name = wrapped

    def build_wrapped(models: list[Any]) -> pa.StructArray:
        array = whole(models)
        fields = dict(zip(array.type.names, array.flatten(), strict=True))
        fields[name] = build([getattr(model, attribute) for model in models])
        return pa.StructArray.from_arrays([*fields.values()], [*fields])

    return build_wrapped


class Types(NamedTuple):
    """How a library has types of columns.

    Attributes:
        is_struct: Whether a type is a struct, whose fields it yields.
        of: Returns the type of a field.
        retyped: Returns a field with another type.
        struct: Returns the struct of fields.
    """

    is_struct: Callable[[Any], bool]
    of: Callable[[Any], Any]
    retyped: Callable[[Any, Any], Any]
    struct: Callable[[list[Any]], Any]


def _retyped(field: pa.Field, kind: pa.DataType) -> pa.Field:
    return field.with_type(kind)


ARROW: Final = Types(pa.types.is_struct, attrgetter("type"), _retyped, pa.struct)


def merged(kinds: Mapping[str, Any], types: Types) -> Any:
    """Return the struct with the fields of all structs; these come with the variant they are of.

    Raises:
        ValueError: A field has different types in two variants.
    """
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


def snake(title: str) -> str:
    """Return the title of a schema in snake_case, as generated functions and types have it."""
    return _CAMEL.sub("_", title).lower()


def _builder_of_parts(builders: Mapping[str, Build], format: str) -> Build:
    """Return the function from models, which are of several variants, to their column."""
    kind = merged({title: build([]).type for title, build in builders.items()}, ARROW)
    variant_of = family(format).variant_of

    def build(models: list[Any]) -> pa.StructArray:
        titles = [variant_of(model) for model in models]
        order: list[int] = []
        arrays: list[pa.StructArray] = []
        for title, build_one in builders.items():
            places = [place for place, one in enumerate(titles) if one == title]
            order += places
            arrays.append(_as(kind, build_one([models[place] for place in places])))
        back = sorted(range(len(order)), key=order.__getitem__)
        joined: pa.StructArray = pa.concat_arrays(arrays).take(pa.array(back, pa.int64()))
        return joined

    return build


def _as(kind: pa.DataType, array: pa.Array) -> pa.Array:
    """Return values as a type with more fields; those that they lack are NULL."""
    if array.type == kind:
        return array
    found = dict(zip(array.type.names, array.flatten(), strict=True))
    columns = [
        _as(field.type, found[field.name])
        if field.name in found
        else pa.nulls(len(array), field.type)
        for field in kind
    ]
    return pa.StructArray.from_arrays(columns, fields=[*kind], mask=array.is_null())
