"""Nodes of schemas: their places, and the values they allow, taken apart by the types of values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from changewire_codegen.keywords import scalar_of
from changewire_codegen.names import escape_pointer
from changewire_codegen.nodes import Family

Node: TypeAlias = Mapping[str, Any]

WORDS: Final = {
    "any": ("", "any value"),
    "base64": ("string", "Base64 text"),
    "binary": ("string", "bytes"),
    "boolean": ("boolean", "a boolean"),
    "datetime": ("string", "date-time text"),
    "double": ("number", "a float"),
    "integer": ("integer", "an integer"),
    "list": ("array", "an array"),
    "map": ("object", "a map"),
    "null": ("null", "null"),
    "object": ("object", "an object"),
    "row": ("array", "an array with positions"),
    "text": ("string", "text"),
}
"""The types that are compared: as JSON Schema calls them, and in words. A number is two of them."""

FORMATS: Final = frozenset({"base64", "datetime"})  # types whose values are text


@dataclass(frozen=True)
class At:
    """A node of a schema file, its place, and the value in a message that it describes.

    ``path`` has patterns for the steps of the JSON Pointer to the value. Where the value satisfies
    one of the conditions in ``lenient``, its schema counts a leniency.
    """

    family: Family
    file: str
    pointer: str
    node: Node
    path: tuple[str, ...] = ()
    lenient: tuple[Node, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """File, with its folder, and JSON Pointer."""
        return f"{self.family.name}/{self.file}", self.pointer

    def at(self, *steps: str | int) -> At:
        """Return a node below this one, for the same value."""
        node: Any = self.node
        for step in steps:
            node = node[step]
        below = "".join(f"/{escape_pointer(str(step))}" for step in steps)
        lenient = (*self.lenient, *node.get("x-leniency", {}).values())
        return replace(self, pointer=self.pointer + below, node=node, lenient=lenient)

    def value(self, *steps: str | int) -> At:
        """Return the node for a value in this one's; where nothing is said, for any value."""
        step = re.escape(f"/{escape_pointer(str(steps[1]))}") if steps[1:] else "/[^/]*"
        counted: tuple[Node, ...] = ({},) if {} in self.lenient else ()
        inner = replace(self, path=(*self.path, step), lenient=counted)
        try:
            return inner.at(*steps)
        except LookupError:
            return replace(inner, node={})


def root(family: Family, file: str) -> At:
    """Return what a schema file has."""
    return At(family, file, "", family.schemas[file]).at()


def target(at: At) -> At:
    """Return the node that the ``$ref`` of a node means, which the loader has found to exist."""
    file, _, pointer = at.node["$ref"].partition("#")
    whole = replace(at, file=file or at.file, pointer="")
    whole = replace(whole, node=at.family.schemas[whole.file])
    return whole.at(*(("$defs", pointer.rpartition("/")[2]) if pointer else ()))


def shapes(at: At) -> dict[str, At]:
    """Return what a node allows, by type; of two integers the dialect allows no union."""
    node = at.node
    if "$ref" in node:
        return shapes(target(at))
    if "anyOf" in node:
        arms = (shapes(at.at("anyOf", i)) for i in range(len(node["anyOf"])))
        return {word: one for arm in arms for word, one in arm.items()}
    if "oneOf" in node:
        return {"object" if at.family.encoding == "json" else "row": at}
    names = [{str: "string"}.get(type(value), "integer") for value in values(node)]
    kinds: Any = node.get("type") or (names[0] if names else None)
    found: dict[str, At] = {}
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        word, one = _word(node, kind), replace(at, node={**node, "type": kind})
        if word == "number" and "integer" not in kinds:
            found["integer"] = one
        if word == "number" and "integer" in kinds:  # whose bounds these are
            one = replace(one, node={"type": kind})
        found["double" if word == "number" else word] = one
    return found


def values(node: Node) -> list[Any]:
    """Return the values that a node lists; none if it lists none."""
    return [node["const"]] if "const" in node else list(node.get("enum", ()))


def _word(node: Node, kind: str | None) -> str:
    if kind == "array":
        return "row" if "prefixItems" in node else "list"
    if kind == "object":
        return "object" if "properties" in node else "map"
    if kind is None:
        return "any"
    found = scalar_of(node, kind)[0]
    return {"string": "text", "bytes": "base64"}.get(found, found)
