"""Small values that a schema allows, made from it alone."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from changewire_codegen.compat.places import At, target
from changewire_codegen.compat.shapes import ValueShape, shapes, values

_DEEPEST: Final = 40
_MOST_NODES: Final = 2000
_LONGEST: Final = 100_000

_ANY: Final[tuple[Any, ...]] = (None, True, 0, 0.5, "", "text", [], {})


class TooLargeError(LookupError):
    """A value that a node allows is too large, or too deep, to be made."""


@dataclass
class _Limits:
    """How much a sample may still hold: a schema can ask for more than any memory has."""

    nodes: int = _MOST_NODES
    depth: int = 0

    def take(self, nodes: int, at: At) -> None:
        """Count nodes, and refuse to make more than a sample may hold."""
        self.nodes -= nodes
        if self.nodes < 0 or self.depth > _DEEPEST:
            raise TooLargeError(at.pointer)


def sample(at: At) -> Any:
    """Return a value that a node allows, as small as it is easy to find.

    Raises:
        LookupError: None was found, of a pattern for example; `TooLargeError` where none is small.
    """
    return _sample(at, _Limits())


def _sample(at: At, limits: _Limits) -> Any:
    limits.take(1, at)
    if "oneOf" in at.node:
        return _deeper(target(at.at("oneOf", 0)), limits)
    found = shapes(at)
    if "null" in found:
        return None
    shape = next(iter(found.values()))
    if "oneOf" in shape.at.node:
        return _deeper(shape.at, limits)
    make = _SAMPLES.get(shape.word)
    return make(shape.at, limits) if make is not None else None


def _deeper(at: At, limits: _Limits) -> Any:
    limits.depth += 1
    value = _sample(at, limits)
    limits.depth -= 1
    return value


def typical(shape: ValueShape) -> Iterator[Any]:
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
        yield from _tried(at, lambda node: _SAMPLES[shape.word](node, _Limits()))
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


def _integer(at: At, _: _Limits) -> int:
    if values(at.node):
        return int(values(at.node)[0])
    value = max(int(at.node.get("minimum", 0)), min(0, int(at.node.get("maximum", 0))))
    while value in at.node.get("not", {}).get("enum", ()):
        value += 1
    return value


def _number(at: At, _: _Limits) -> float:
    return max(float(at.node.get("minimum", 0.5)), min(0.5, float(at.node.get("maximum", 0.5))))


def _text(at: At, _: _Limits) -> str:
    if values(at.node):
        return str(values(at.node)[0])
    size = _size(at, "minLength")
    excluded = at.node.get("not", {}).get("enum", ())
    pattern = at.node.get("pattern", "^.*$")
    for text in ("", "other", *(letter * (size or 1) for letter in "a0A")):
        fits = size <= len(text) <= at.node.get("maxLength", len(text))
        if fits and text not in excluded and re.search(f"{pattern[:-1]}\\Z", text):
            return text
    raise LookupError(at.pointer)


def _size(at: At, keyword: str) -> int:
    """Return the smallest length of text or bytes, where it is one to make a sample of."""
    size = int(at.node.get(keyword, 0))
    if size > _LONGEST:
        raise TooLargeError(at.pointer)
    return size


def _base64(at: At, _: _Limits) -> str:
    return b64encode(bytes(_size(at, "x-minBytes"))).decode("ascii")


def _binary(at: At, _: _Limits) -> bytes:
    return bytes(_size(at, "x-minBytes"))


def _list(at: At, limits: _Limits) -> list[Any]:
    count = int(at.node.get("minItems", 0))
    if not count:
        return []
    before = limits.nodes
    item = _deeper(at.at("items"), limits) if "items" in at.node else None
    limits.take((before - limits.nodes + 1) * (count - 1), at)
    return [item] * count


def _row(at: At, limits: _Limits) -> list[Any]:
    return [_deeper(at.at("prefixItems", i), limits) for i in range(len(at.node["prefixItems"]))]


def _object(at: At, limits: _Limits) -> dict[str, Any]:
    required = at.node.get("required", ())
    return {name: _deeper(at.at("properties", name), limits) for name in required}


_SAMPLES: Final[Mapping[str, Callable[[At, _Limits], Any]]] = {
    "base64": _base64,
    "binary": _binary,
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
