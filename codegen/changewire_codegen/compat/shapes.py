"""What a node allows, taken apart by the types of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from changewire_codegen.compat.places import At, Trace, target

WORDS: Final[Mapping[str, str]] = {
    "any": "any value",
    "base64": "Base64 text",
    "binary": "bytes",
    "boolean": "a boolean",
    "datetime": "date-time text",
    "double": "a float",
    "integer": "an integer",
    "list": "an array",
    "map": "a map",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "row": "an array with positions",
    "text": "text",
}
"""Each type in words."""

TAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "base64": ("base64", "text", "any"),
    "datetime": ("datetime", "text", "any"),
    "double": ("double", "number", "any"),
    "integer": ("integer", "number", "any"),
    "map": ("map", "object", "any"),
    "object": ("object", "map", "any"),
    "row": ("row", "list", "any"),
}
"""Which types may take the values of a type, where that is more than itself and any."""

_FORMATS: Final[Mapping[tuple[str, str | None], str]] = {
    ("string", "base64"): "base64",
    ("string", "binary"): "binary",
    ("string", "date-time"): "datetime",
    ("string", None): "text",
    ("number", "double"): "double",
}


@dataclass(frozen=True)
class ValueShape:
    """Values of one type that a node allows.

    Attributes:
        word: The type; one of `WORDS`.
        at: The node that says more about them.
        trace: The way from the node that was taken apart to this one, which is for the same value.
    """

    word: str
    at: At
    trace: Trace = ()


def shapes(at: At) -> dict[str, ValueShape]:
    """Return what a node allows, by type; of two integers the dialect allows no union."""
    return {shape.word: shape for shape in _shapes(at)}


def _shapes(at: At) -> Iterator[ValueShape]:
    node = at.node
    if "$ref" in node:
        yield from _through(at, target(at))
    elif "anyOf" in node:
        for i in range(len(node["anyOf"])):
            yield from _through(at, at.at("anyOf", i))
    elif "oneOf" in node:
        yield ValueShape("object" if at.family.encoding == "json" else "row", at)
    elif isinstance(node.get("type"), list):
        for kind in node["type"]:
            yield ValueShape(_word(node, kind), _one_of(at, kind))
    else:
        yield ValueShape(_word(node, node.get("type") or _type_of_values(node)), at)


def _one_of(at: At, kind: str) -> At:
    """Return a node as if it allowed one of its types; bounds beside integer are the integer's."""
    foreign = {"minimum", "maximum"} if kind == "number" and "integer" in at.node["type"] else set()
    node = {keyword: value for keyword, value in at.node.items() if keyword not in foreign}
    return At(at.family, at.file, at.pointer, {**node, "type": kind})


def _through(at: At, below: At) -> Iterator[ValueShape]:
    for shape in _shapes(below):
        yield replace(shape, trace=((at, None), *shape.trace))


def _type_of_values(node: Mapping[str, Any]) -> str | None:
    if "const" not in node and "enum" not in node:
        return None
    return "string" if isinstance(values(node)[0], str) else "integer"


def values(node: Mapping[str, Any]) -> list[Any]:
    """Return the values that a node lists; none if it lists none."""
    return [node["const"]] if "const" in node else list(node.get("enum", ()))


def _word(node: Mapping[str, Any], kind: str | None) -> str:
    if kind is None:
        return "any"
    if kind == "array":
        return "row" if "prefixItems" in node else "list"
    if kind == "object":
        return "object" if "properties" in node else "map"
    form = "base64" if "contentEncoding" in node else node.get("format")
    return _FORMATS.get((kind, form), _FORMATS.get((kind, None), kind))
