"""Small values that a schema allows, made from it alone."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from changewire_codegen.compat.places import At, target
from changewire_codegen.compat.shapes import Shape, shapes, values

_DEEPEST: Final = 40

_ANY: Final[tuple[Any, ...]] = (None, True, 0, 0.5, "", "text", [], {})


def sample(at: At, depth: int = 0) -> Any:
    """Return a value that a node allows, as small as it is easy to find.

    Raises:
        LookupError: None was found: of a pattern, or of a definition that always holds itself.
    """
    if depth > _DEEPEST:
        raise LookupError(at.pointer)
    node = at.node
    if "oneOf" in node:
        return sample(target(at.at("oneOf", 0)), depth + 1)
    found = shapes(at)
    if "null" in found:
        return None
    shape = next(iter(found.values()))
    if "oneOf" in shape.at.node:
        return sample(shape.at, depth + 1)
    make = _SAMPLES.get(shape.word)
    return make(shape.at, depth) if make is not None else None


def typical(shape: Shape) -> Iterator[Any]:
    """Yield some values of a type that a node may allow; who tries them asks its validator."""
    if shape.word == "any":
        yield from _ANY
        return
    at, more = shape.at, _MORE.get(shape.word, ())
    if "oneOf" in at.node:
        for i in range(len(at.node["oneOf"])):
            yield from _tried(target(at.at("oneOf", i)), sample)
        return
    if shape.word in _SAMPLES:
        yield from _tried(at, lambda node: _SAMPLES[shape.word](node, 0))
    if shape.word == "list" and "items" in at.node:
        yield from _tried(at.at("items"), lambda node: [sample(node)])
    if shape.word == "map" and "additionalProperties" in at.node:
        yield from _tried(at.at("additionalProperties"), lambda node: {"a": sample(node)})
    yield from values(at.node)
    yield from more


def _tried(at: At, make: Callable[[At], Any]) -> Iterator[Any]:
    try:
        yield make(at)
    except LookupError:
        return


def _integer(at: At, _: int) -> int:
    if values(at.node):
        return int(values(at.node)[0])
    value = max(int(at.node.get("minimum", 0)), min(0, int(at.node.get("maximum", 0))))
    while value in at.node.get("not", {}).get("enum", ()):
        value += 1
    return value


def _number(at: At, _: int) -> float:
    return max(float(at.node.get("minimum", 0.5)), min(0.5, float(at.node.get("maximum", 0.5))))


def _text(at: At, _: int) -> str:
    if values(at.node):
        return str(values(at.node)[0])
    size = int(at.node.get("minLength", 0))
    excluded = at.node.get("not", {}).get("enum", ())
    pattern = at.node.get("pattern", "^.*$")
    for text in ("", "other", *(letter * (size or 1) for letter in "a0A")):
        fits = size <= len(text) <= at.node.get("maxLength", len(text))
        if fits and text not in excluded and re.search(f"{pattern[:-1]}\\Z", text):
            return text
    raise LookupError(at.pointer)


def _base64(at: At, _: int) -> str:
    return b64encode(bytes(at.node.get("x-minBytes", 0))).decode("ascii")


def _list(at: At, depth: int) -> list[Any]:
    items = at.at("items") if "items" in at.node else None
    return [items and sample(items, depth + 1) for _ in range(at.node.get("minItems", 0))]


def _row(at: At, depth: int) -> list[Any]:
    return [sample(at.at("prefixItems", i), depth + 1) for i in range(len(at.node["prefixItems"]))]


def _object(at: At, depth: int) -> dict[str, Any]:
    required = at.node.get("required", ())
    return {name: sample(at.at("properties", name), depth + 1) for name in required}


_SAMPLES: Final[Mapping[str, Callable[[At, int], Any]]] = {
    "base64": _base64,
    "binary": lambda at, _: bytes(at.node.get("x-minBytes", 0)),
    "boolean": lambda _, __: True,
    "datetime": lambda _, __: "2000-01-01T00:00:00Z",
    "double": lambda _, __: 0.5,
    "integer": _integer,
    "list": _list,
    "map": lambda _, __: {},
    "number": _number,
    "object": _object,
    "row": _row,
    "text": _text,
}
"""What makes a value of each type; null and any value are null."""

_MORE: Final[Mapping[str, tuple[Any, ...]]] = {
    "base64": (b64encode(bytes(99)).decode("ascii"),),
    "boolean": (False,),
    "double": (1.0,),
    "integer": (1, -1, 2**63 - 1, -(2**63)),
    "null": (None,),
    "number": (-1.5, 1e300, 2**63),
    "text": ("", "text", "1"),
}
"""Other values of a type that may be worth a try."""
