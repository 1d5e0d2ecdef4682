"""Scalars in generated checks: the tests of type and bounds, and the words for both."""

from __future__ import annotations

from collections.abc import Iterator

from changewire_codegen.emit.views import is_wire_type
from changewire_codegen.nodes import (
    INT64,
    Alias,
    Anything,
    ArrayOf,
    Choice,
    Family,
    MapOf,
    Nullable,
    RefTo,
    Row,
    RowUnion,
    Scalar,
    Type,
)
from changewire_codegen.types import ON_THE_WIRE

_WORDS = {
    "binary": "bytes",
    "bytes": "Base64 text",
    "datetime": "date-time text",
    "double": "float",
}


def type_test(scalar: Scalar, value: str) -> str:
    """Return the test that a parsed value has the JSON type of a scalar."""
    name = ON_THE_WIRE.get(scalar.kind, scalar.kind)
    return is_wire_type(name, value, exact=scalar.exact).text


def scalar_words(kind: Scalar | Choice) -> str:
    """Return the words for the JSON types that a scalar takes."""
    return " or ".join(_WORDS.get(option.kind, option.kind) for option in kind.options)


def type_words(kind: Type, family: Family) -> str:
    """Return the words for the JSON types that a type takes."""
    if isinstance(kind, (Scalar, Choice)):
        return scalar_words(kind)
    if isinstance(kind, Nullable):
        return f"{type_words(kind.of, family)} or null"
    if isinstance(kind, RefTo):
        definition = family.definitions[kind.name]
        if isinstance(definition, Alias):
            return type_words(definition.type, family)
        word = "array" if isinstance(definition, (Row, RowUnion)) else "object"
        return f"{word} ({kind.name})"
    names: dict[type, str] = {ArrayOf: "array", MapOf: "object", Anything: "any value"}
    return names[type(kind)]


def arguments(kind: Scalar | Choice) -> str:
    """Return what `scalar` of the shared module is given to check a type: words, and rules."""
    has_integers = any(option.kind == "integer" for option in kind.options)
    rules = [rule for one in kind.options for rule in _rules(one, has_integers=has_integers)]
    return ", ".join([repr(scalar_words(kind)), *rules])


def _rules(scalar: Scalar, *, has_integers: bool) -> Iterator[str]:
    if scalar.enum is not None:
        yield f"among={scalar.enum!r}"
        return
    is_number = scalar.kind == "number"
    bounds = (scalar.minimum, scalar.maximum)
    defaults = INT64 if scalar.kind == "integer" else (None, None)
    ends = ("low", "high") if is_number and has_integers else ("least", "most")
    for name, bound, default in zip(ends, bounds, defaults, strict=True):
        if bound not in {None, default}:
            yield f"{name}={bound}"
    if scalar.excluded:
        yield f"none_of={scalar.excluded!r}"
    sizes = (scalar.min_length, scalar.max_length)
    if sizes != (None, None):
        yield f"{'length' if scalar.kind == 'string' else 'size'}={sizes!r}"
    if scalar.pattern is not None:
        yield f"pattern={scalar.pattern!r}"
    if scalar.exact:
        yield "exact=True"
