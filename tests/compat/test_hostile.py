"""Schemas that ask for more than there is: they are compared, and nothing runs out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from changewire_codegen.compat.diff import diff

Node = dict[str, Any]

DEPTH = 60


def schema(value: Node, **definitions: Node) -> Node:
    """Return a schema with one property."""
    named = {"$defs": definitions} if definitions else {}
    return {
        "title": "Sample",
        "description": "A sample.",
        "type": "object",
        "properties": {"value": {"description": "A value.", **value}},
        "required": ["value"],
        "examples": [{}],
        **named,
    }


def ladder(last: Node) -> Node:
    """Return a schema each of whose definitions holds the next one twice, with a leniency."""
    definitions: dict[str, Node] = {}
    for i in range(DEPTH):
        below = {"$ref": f"#/$defs/Step{i + 1}"} if i + 1 < DEPTH else last
        definitions[f"Step{i}"] = {
            "title": f"Step{i}",
            "description": "A step.",
            "type": "object",
            "properties": {
                "a": {
                    "description": "One way.",
                    **below,
                    "x-leniency": {"way": {"type": "object"}},
                },
                "b": {"description": "Another way.", **below},
            },
            "required": ["a", "b"],
        }
    return schema({"$ref": "#/$defs/Step0"}, **definitions)


def lists(depth: int, last: Node) -> Node:
    """Return lists in lists, each with a thousand elements."""
    node = last
    for _ in range(depth):
        node = {"type": "array", "items": node, "minItems": 1000}
    return schema(node)


HOSTILE = {
    "length": (schema({"type": "string", "minLength": 10**15}), schema({"type": "string"})),
    "bytes": (
        schema({"type": "string", "contentEncoding": "base64", "x-minBytes": 10**15}),
        schema({"type": "string"}),
    ),
    "elements": (schema({"type": "array", "minItems": 10**15}), schema({"type": "array"})),
    "lists": (lists(8, {"type": "integer"}), lists(8, {"type": "string"})),
    "numbers": (schema({"type": "number", "maximum": 1e308}), schema({"type": "number"})),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_schema_that_asks_for_too_much_is_compared(name: str, tmp_path: Path) -> None:
    """What no memory can hold is judged without making it."""
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, document in zip(paths, HOSTILE[name], strict=True):
        path.write_text(json.dumps(document), encoding="utf-8")
    found = list(diff(str(paths[0]), str(paths[1])))
    assert any("breaking" in {item["readers"], item["writers"]} for item in found)


def test_ways_that_double_are_compared(tmp_path: Path) -> None:
    """Where the ways to a definition double with each step, each definition is compared in time."""
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, last in zip(paths, ({"type": "integer"}, {"type": "string"}), strict=True):
        path.write_text(json.dumps(ladder(last)), encoding="utf-8")
    found = list(diff(str(paths[0]), str(paths[1])))
    assert {(item["rule"], item["readers"]) for item in found} == {
        ("TYPE_NO_DELETE", "breaking"),
        ("TYPE_NO_ADD", "compatible"),
    }
