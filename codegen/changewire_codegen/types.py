"""One schema node to one type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NoReturn

from changewire_codegen.errors import SchemaError
from changewire_codegen.keywords import (
    BINARY,
    BITS32,
    DATE_TIME,
    DOUBLE,
    integer_bounds,
    meaningless,
)
from changewire_codegen.names import escape_pointer
from changewire_codegen.nodes import (
    Anything,
    ArrayOf,
    Choice,
    Kind,
    MapOf,
    Nullable,
    RefTo,
    Scalar,
    Type,
)

Node = Mapping[str, Any]

LOOSE = "only a position of an array may be a double, text next to bytes, or a map with any keys"
"""Reason for refusing a type that msgspec has no annotation for."""

ON_THE_WIRE = {"bytes": "string", "datetime": "string"}
_PYTHON_KINDS: Mapping[type, Kind] = {str: "string", int: "integer"}
_FORMATS: Mapping[tuple[str, str | None], Kind] = {
    ("string", "base64"): "bytes",
    ("string", BINARY): "binary",
    ("string", DATE_TIME): "datetime",
    ("number", DOUBLE): "double",
}
_PLAIN: Mapping[str, Kind] = {"boolean": "boolean", "null": "null"}


class Place:
    """Place of a node, and how the references of its file are resolved."""

    def __init__(
        self, file: str, pointer: str, titles: Mapping[tuple[str, str], str], *, exact: bool = False
    ) -> None:
        """Remember the place; ``titles`` maps (file, pointer) to the name of a definition.

        With ``exact`` a parsed number there may be a decimal.
        """
        self.file = file
        self.pointer = pointer
        self.titles = titles
        self.exact = exact

    def at(self, *steps: str | int) -> Place:
        """Return the place below this one."""
        below = "".join(f"/{escape_pointer(str(step))}" for step in steps)
        return Place(self.file, self.pointer + below, self.titles, exact=self.exact)

    def refuse(self, reason: str) -> NoReturn:
        """Raise SchemaError for this place."""
        raise SchemaError(self.file, self.pointer, reason)

    def check_keywords(self, node: Node, own: frozenset[str]) -> None:
        """Refuse a keyword that would be ignored."""
        keyword = meaningless(node, own)
        if keyword is not None:
            self.at(keyword).refuse(f"the keyword {keyword!r} has no meaning here")

    def resolve(self, reference: str) -> str:
        """Return the name of the definition that a ``$ref`` means."""
        file, _, pointer = reference.partition("#")
        folder = self.file.rpartition("/")[0]
        target = (f"{folder}/{file}" if file else self.file, pointer)
        if target not in self.titles:
            self.refuse(f"$ref {reference!r} leads nowhere")
        return self.titles[target]


def build_type(node: Node, place: Place, own: frozenset[str] = frozenset()) -> Type:
    """Return the type that a node describes."""
    place.check_keywords(node, own)
    if "$ref" in node:
        return RefTo(place.resolve(node["$ref"]))
    if "anyOf" in node:
        arms = [build_type(arm, place.at("anyOf", i)) for i, arm in enumerate(node["anyOf"])]
        return _join(arms, place)
    if "oneOf" in node:
        place.refuse("a oneOf needs a title in $defs")
    if isinstance(node.get("type"), list):
        return _join([_single(node, name, place) for name in node["type"]], place)
    if "const" in node or "enum" in node:
        return _enumeration(node, place)
    if "type" in node:
        return _single(node, node["type"], place)
    return Anything()


def _single(node: Node, name: str, place: Place) -> Type:
    if name == "array":
        if "prefixItems" in node:
            place.refuse("a positional array needs a title in $defs")
        if node.get("items") is False:
            place.at("items").refuse("items: false is allowed only next to prefixItems")
        items = _below(node.get("items", {}), place.at("items"))
        return ArrayOf(items, node.get("minItems"), node.get("maxItems"))
    if name == "object":
        if "properties" in node:
            place.refuse("anonymous object: give it a title in $defs and refer to it")
        values = _below(node.get("additionalProperties", {}), place.at("additionalProperties"))
        return MapOf(values, any_keys="x-mapKeys" in node)
    return _scalar(node, name, place)


def _below(node: Node, place: Place) -> Type:
    kind = build_type(node, place)
    if is_loose(kind):
        place.refuse(LOOSE)
    return kind


def is_loose(kind: Type) -> bool:
    """Return whether msgspec has no type for exactly the values of a scalar.

    It reads an integer as a float, and has no type that is text or bytes.
    """
    options = kind.options if isinstance(kind, Choice) else (kind,)
    kinds = {option.kind for option in options if isinstance(option, Scalar)}
    return ("double" in kinds and "integer" not in kinds) or {"binary", "string"} <= kinds


def is_by_any_key(kind: Type) -> bool:
    """Return whether a type has a map whose keys need not be text, at any depth."""
    if isinstance(kind, MapOf):
        return kind.any_keys or is_by_any_key(kind.values)
    if isinstance(kind, ArrayOf):
        return is_by_any_key(kind.items)
    return isinstance(kind, Nullable) and is_by_any_key(kind.of)


def _scalar(node: Node, name: str, place: Place) -> Scalar:
    form = "base64" if "contentEncoding" in node else node.get("format")
    if (name, form) in _FORMATS:
        sizes = (node.get("x-minBytes"), node.get("x-maxBytes"))
        return Scalar(_FORMATS[name, form], min_length=sizes[0], max_length=sizes[1])
    if name == "string":
        _check_pattern(node.get("pattern", ""), place)
        return Scalar(
            "string",
            min_length=node.get("minLength"),
            max_length=node.get("maxLength"),
            pattern=node.get("pattern"),
        )
    if name == "integer":
        low, high = integer_bounds(node)
        excluded = tuple(node.get("not", {}).get("enum", ()))
        bits: Literal[32, 64] = 32 if form == BITS32 else 64
        return Scalar("integer", low, high, excluded=excluded, bits=bits)
    if name == "number":
        return Scalar("number", node.get("minimum"), node.get("maximum"), exact=place.exact)
    return Scalar(_PLAIN[name])


def _check_pattern(pattern: str, place: Place) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        place.at("pattern").refuse(f"not a regular expression: {error}")


def _enumeration(node: Node, place: Place) -> Scalar:
    values: tuple[Any, ...] = tuple(node["enum"]) if "enum" in node else (node["const"],)
    kinds: set[Kind | None] = {_PYTHON_KINDS.get(type(value)) for value in values}
    kind = kinds.pop()
    if kind is None or kinds:
        place.refuse("the values of an enum must be all strings or all integers")
    if node.get("type", kind) != kind:
        place.at("type").refuse(f"the values are of type {kind!r}")
    return Scalar(kind, enum=values)


def _join(arms: list[Type], place: Place) -> Type:
    """Return the union of several types, which must be distinguishable by JSON type."""
    scalars = [arm for arm in arms if isinstance(arm, Scalar)]
    others = [arm for arm in arms if not isinstance(arm, Scalar)]
    words = [ON_THE_WIRE.get(scalar.kind, scalar.kind) for scalar in scalars]
    if len(words) > len(set(words)) or {"number", "double"} <= set(words):
        place.refuse("ambiguous union: two arms have the same JSON type")
    if not others:
        return Choice(tuple(scalars))
    if len(others) == 1 and words == ["null"] and not isinstance(others[0], (Choice, Nullable)):
        return Nullable(others[0])
    return place.refuse("ambiguous union: an object, array or map may only be joined with null")
