"""The values of an encoding: keywords of the other encoding are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import escape_pointer

Node = Mapping[str, Any]

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

_BELOW = ("$defs", "properties")
_IN_ORDER = ("prefixItems", "anyOf", "oneOf")
_ONE = ("items", "additionalProperties")


def check_family_encoding(path: str, meta: Node) -> None:
    """Refuse a ``family.json`` that says how numbers are kept, if its encoding leaves no choice."""
    if meta["encoding"] == "msgpack" and "numbers" in meta:
        raise SchemaError(path, "/numbers", "a float in MessagePack has at most binary64 precision")


def check_encoding(path: str, schema: Node, encoding: str) -> None:
    """Refuse keywords of a schema file that belong to another encoding than its family's."""
    for pointer, node in _nodes(schema, ""):
        for (keyword, value), reason in _FOREIGN[encoding].items():
            if keyword in node and value in (None, node[keyword]):
                raise SchemaError(path, f"{pointer}/{escape_pointer(keyword)}", reason)
        if encoding == "msgpack" and _is_map(node) and "x-mapKeys" not in node:
            raise SchemaError(path, pointer, 'in MessagePack a map needs "x-mapKeys": "any"')


def _is_map(node: Node) -> bool:
    kind = node.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _nodes(node: Node, pointer: str) -> Iterator[tuple[str, Node]]:
    """Yield every place of a schema, with its JSON Pointer."""
    yield pointer, node
    for keyword, step, child in _children(node):
        yield from _nodes(child, f"{pointer}/{keyword}{step}")


def _children(node: Node) -> Iterator[tuple[str, str, Node]]:
    for keyword in _BELOW:
        for name, child in node.get(keyword, {}).items():
            yield keyword, f"/{escape_pointer(name)}", child
    for keyword in _IN_ORDER:
        for i, child in enumerate(node.get(keyword, ())):
            yield keyword, f"/{i}", child
    for keyword in _ONE:
        if isinstance(node.get(keyword), dict):
            yield keyword, "", node[keyword]
