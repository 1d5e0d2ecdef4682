"""One schema node to one type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from changewire_codegen.errors import SchemaError
from changewire_codegen.keywords import integer_bounds, refused, scalar_of
from changewire_codegen.names import escape_pointer
from changewire_codegen.nodes import (
    INT64,
    Anything,
    ArrayOf,
    Choice,
    Holder,
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


@dataclass(frozen=True)
class Place:
    """Place of a node, and how the references of its file are resolved.

    Attributes:
        titles: Name of each definition by its file and pointer.
        encoding: How the messages of its family are written.
        exact: Whether a parsed number there may be a decimal.
    """

    file: str
    pointer: str
    titles: Mapping[tuple[str, str], str]
    encoding: str
    exact: bool

    def at(self, *steps: str | int) -> Place:
        """Return the place below this one."""
        below = "".join(f"/{escape_pointer(str(step))}" for step in steps)
        return replace(self, pointer=self.pointer + below)

    def refuse(self, reason: str) -> NoReturn:
        """Raise SchemaError for this place."""
        raise SchemaError(self.file, self.pointer, reason)

    def check_keywords(self, node: Node, own: frozenset[str]) -> None:
        """Refuse a keyword that would be ignored, or that another encoding has."""
        found = refused(node, own, self.encoding)
        if found is not None:
            self.at(found[0]).refuse(found[1])

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
        if place.encoding == "msgpack" and "x-mapKeys" not in node:
            place.refuse('in MessagePack a map needs "x-mapKeys": "any"')
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
    kinds = {option.kind for option in kind.options} if isinstance(kind, Scalar | Choice) else set()
    return ("double" in kinds and "integer" not in kinds) or {"binary", "string"} <= kinds


def is_by_any_key(kind: Type) -> bool:
    """Return whether a type has a map whose keys need not be text, at any depth."""
    is_here = isinstance(kind, MapOf) and kind.any_keys
    return is_here or (isinstance(kind, Holder) and is_by_any_key(kind.of))


def _scalar(node: Node, name: str, place: Place) -> Scalar:
    kind, keywords = scalar_of(node, name)
    own = {keyword: node[keyword] for keyword in keywords & node.keys()}
    low, high = own.get("minimum"), own.get("maximum")
    if kind == "integer":
        low, high = integer_bounds(own)
        for keyword in ("minimum", "maximum"):
            if not INT64[0] <= own.get(keyword, 0) <= INT64[1]:
                place.at(keyword).refuse("a bound of an integer must have at most 64 bits")
    return Scalar(
        kind,
        low,
        high,
        min_length=own.get("minLength", own.get("x-minBytes")),
        max_length=own.get("maxLength", own.get("x-maxBytes")),
        pattern=own.get("pattern"),
        excluded=tuple(node.get("not", {}).get("enum", ())) if kind == "integer" else (),
        bits=32 if own.get("format") == "int32" else 64,
        exact=place.exact and kind == "number",
    )


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
    if sum(scalar.enum is not None for scalar in scalars) > 1:
        place.refuse("only one arm of a union may list its values, by an enum or a const")
    if not others:
        return Choice(tuple(scalars))
    if len(others) == 1 and words == ["null"] and not isinstance(others[0], (Choice, Nullable)):
        return Nullable(others[0])
    return place.refuse("ambiguous union: an object, array or map may only be joined with null")
