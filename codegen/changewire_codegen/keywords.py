"""Which keywords have a meaning at a place: any other keyword is refused, never ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire_codegen.nodes import INT32, INT64

Node = Mapping[str, Any]

ANNOTATIONS = frozenset({"title", "description", "$comment", "examples"})
ROOT = frozenset({"$schema", "$id", "$defs"})

DATE_TIME = "date-time"
"""The format of a date and time with an offset, as text."""

BINARY = "binary"
"""The format of a bin of a MessagePack message."""

DOUBLE = "double"
"""The format of a number that is written as a float, whatever its value."""

BITS32 = "int32"
"""The format of an integer of 32 bits."""

_TYPES: Mapping[str, frozenset[str]] = {
    "null": frozenset(),
    "string": frozenset({"minLength", "maxLength", "pattern", "not"}),
    "boolean": frozenset(),
    "integer": frozenset({"minimum", "maximum"}),
    "number": frozenset({"minimum", "maximum"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "object": frozenset({"additionalProperties", "x-mapKeys"}),
}
_BYTES = frozenset({"x-minBytes", "x-maxBytes"})
_FORMATS: Mapping[tuple[str, str | None], frozenset[str]] = {
    ("string", BINARY): _BYTES | {"format"},
    ("integer", BITS32): frozenset({"format", "minimum", "maximum"}),
    ("string", DATE_TIME): frozenset({"format"}),
    ("number", DOUBLE): frozenset({"format"}),
}


def integer_bounds(node: Node) -> tuple[int, int]:
    """Return the smallest and the largest integer that a node allows."""
    low, high = INT32 if node.get("format") == BITS32 else INT64
    return node.get("minimum", low), node.get("maximum", high)


def meaningless(node: Node, place: frozenset[str]) -> str | None:
    """Return a keyword that has no meaning in a node, where those of ``place`` have one too."""
    unknown = sorted(node.keys() - ANNOTATIONS - place - _of_form(node))
    return unknown[0] if unknown else None


def _of_form(node: Node) -> frozenset[str]:
    """Return the keywords that belong to the way in which a node describes its type."""
    for keyword in ("$ref", "anyOf", "oneOf"):
        if keyword in node:
            return frozenset({keyword})
    if isinstance(node.get("type"), list):
        return frozenset({"type"}).union(*(_of_type(node, name) for name in node["type"]))
    for keyword in ("const", "enum"):
        if keyword in node:
            return frozenset({"type", keyword})
    return _of_type(node, node["type"]) | {"type"} if "type" in node else frozenset()


def _of_type(node: Node, name: str) -> frozenset[str]:
    if name == "string" and "contentEncoding" in node:
        return _BYTES | {"contentEncoding"}
    if (name, node.get("format")) in _FORMATS:
        return _FORMATS[name, node["format"]]
    if name == "array" and "prefixItems" in node:
        return _TYPES[name] | {"prefixItems"}
    if name == "object" and "properties" in node:
        return frozenset({"properties", "required"})
    return _TYPES[name]
