"""Which keywords have a meaning at a place: any other keyword is refused, never ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire_codegen.nodes import INT32, INT64, Kind

Node = Mapping[str, Any]

ANNOTATIONS = frozenset({"title", "description", "$comment", "examples"})
ROOT = frozenset({"$schema", "$id", "$defs"})

_RANGE = frozenset({"minimum", "maximum"})
_BYTES = frozenset({"x-minBytes", "x-maxBytes"})

_SCALARS: Mapping[tuple[str, str | None], tuple[Kind, frozenset[str]]] = {
    ("null", None): ("null", frozenset()),
    ("boolean", None): ("boolean", frozenset()),
    ("integer", None): ("integer", _RANGE),
    ("integer", "int32"): ("integer", _RANGE | {"format"}),
    ("number", None): ("number", _RANGE),
    ("number", "double"): ("double", frozenset({"format"})),
    ("string", None): ("string", frozenset({"minLength", "maxLength", "pattern", "not"})),
    ("string", "base64"): ("bytes", _BYTES | {"contentEncoding"}),
    ("string", "binary"): ("binary", _BYTES | {"format"}),
    ("string", "date-time"): ("datetime", frozenset({"format"})),
}
"""The scalar of each type and format, with the keywords that belong to it."""

_FOREIGN: Mapping[str, Mapping[tuple[str, str | None], str]] = {
    "json": {
        ("format", "binary"): "JSON has no bytes: use contentEncoding",
        ("format", "double"): "JSON does not distinguish 1.0 from 1: leave it out",
        ("x-mapKeys", None): "the names in a JSON object are always text",
    },
    "msgpack": {
        ("contentEncoding", None): 'MessagePack has bytes: use "format": "binary"',
        ("format", "date-time"): "the dialect has no date-time in MessagePack",
        ("properties", None): "in MessagePack, use an array with positions instead of properties",
    },
}
"""For each encoding the keywords, or single values of them, that do not fit it."""


def integer_bounds(node: Node) -> tuple[int, int]:
    """Return the smallest and the largest integer that a node allows."""
    low, high = INT32 if node.get("format") == "int32" else INT64
    return node.get("minimum", low), node.get("maximum", high)


def refused(node: Node, own: frozenset[str], encoding: str) -> tuple[str, str] | None:
    """Return a keyword and why it is refused where ``own`` ones have a meaning, too."""
    for (keyword, value), reason in _FOREIGN[encoding].items():
        if keyword in node and value in (None, node[keyword]):
            return keyword, reason
    for keyword in sorted(node.keys() - ANNOTATIONS - own - _of_form(node)):
        return keyword, f"the keyword {keyword!r} has no meaning here"
    return None


def scalar_of(node: Node, name: str) -> tuple[Kind, frozenset[str]]:
    """Return the scalar that a node describes by the name of its type, and its keywords."""
    form = "base64" if "contentEncoding" in node else node.get("format")
    return _SCALARS[(name, form) if (name, form) in _SCALARS else (name, None)]


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
    if name == "array":
        own = frozenset({"items", "minItems", "maxItems"})
        return own | {"prefixItems"} if "prefixItems" in node else own
    if name == "object":
        is_map = "properties" not in node
        keywords = ("additionalProperties", "x-mapKeys") if is_map else ("properties", "required")
        return frozenset(keywords)
    return scalar_of(node, name)[1]
