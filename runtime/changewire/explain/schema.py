"""The schemas of a format, and which of their rules apply to a value."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Final

from changewire.codec.installed import package_of
from changewire_messages.bundles import bundle_of, schemas_of
from changewire_messages.flat_objects import flat_name

Node = Mapping[str, Any]
"""A place in a schema; an empty one says nothing."""

NOTHING_KNOWN: Final[Node] = {}

_DECIDING: Final = frozenset({"const", "enum", "not"})
"""Keywords that make a property, or a position, the tag of a union."""


@cache
def schemas(format: str) -> Mapping[str, Node]:
    """Return the schemas of a format, by their title."""
    return schemas_of(bundle_of(package_of(format)))


def chain(root: Node, node: Node, value: object) -> list[Node]:
    """Return a place in a schema, and the definitions and arms it leads to for a value."""
    found = [node]
    while True:
        last = found[-1]
        if "$ref" in last:
            found.append(_target(root, last))
        elif "x-flat" in last:
            found.append(_flat(last, value))
        elif "else" in last:
            found.append(last["then" if _stands_alone(last["if"], value) else "else"])
        elif arms := last.get("oneOf") or last.get("anyOf"):
            choices = [(arm, _target(root, arm)) for arm in arms]
            is_tagged = "oneOf" in last
            arm = _by_tag(root, choices, value) if is_tagged else _by_type(choices, value)
            if arm is None:
                return found
            found.append(arm)
        else:
            return found


def _flat(node: Node, value: object) -> Node:
    """Return a message in which entries of a map are, as an object with its properties."""
    ((name, own),), then = node["properties"].items(), node["then"]
    needed = node["if"]["properties"][name]["required"]
    actual = flat_name(value, name, needed) if isinstance(value, dict) else name
    return {
        "type": "object",
        "properties": {actual: {**own, **then["properties"][name]}},
        "required": [actual],
        "additionalProperties": then["additionalProperties"],
    }


def _stands_alone(rule: Node, value: object) -> bool:
    """Return whether a message is the value of one of its properties, as its schema asks.

    It has the properties that are required, and none of those named.
    """
    if not isinstance(value, dict):
        return False
    return value.keys() >= {*rule["required"]} and value.keys().isdisjoint(rule["properties"])


def _target(root: Node, node: Node) -> Node:
    """Return the definition that a place refers to; the place itself if it does not."""
    reference = node.get("$ref")
    if reference is None:
        return node
    for step in reference.split("/")[1:]:
        root = root[step]
    return root


def _by_tag(root: Node, arms: list[tuple[Node, Node]], value: object) -> Node | None:
    """Return the arm whose tag a value has; of arrays, one of its length before others."""
    fitting = [(arm, target) for arm, target in arms if _has_tag(target, value)]
    of_length = [arm for arm, target in fitting if _is_of_length(root, target, value)]
    return next(iter(of_length or [arm for arm, _ in fitting]), None)


def _has_tag(arm: Node, value: Any) -> bool:
    if isinstance(value, dict):
        properties = arm.get("properties", {})
        tags = {name: properties[name] for name in arm.get("required", ()) if name in properties}
        deciding = {name: tag for name, tag in tags.items() if _DECIDING & tag.keys()}
        return bool(deciding) and all(_holds(deciding[name], value.get(name)) for name in deciding)
    if isinstance(value, list):
        return all(map(_holds, arm.get("prefixItems", ()), value))
    return False


def _holds(rule: Node, value: object) -> bool:
    """Return whether a value is one of those that a tag can have."""
    if "const" in rule:
        return type(value) is type(rule["const"]) and value == rule["const"]
    if "enum" in rule:
        return value in rule["enum"]
    return "not" not in rule or value not in rule["not"].get("enum", ())


def _is_of_length(root: Node, arm: Node, value: Any) -> bool:
    """Return whether an array, and the arrays at its positions, are as long as an arm says."""
    if "prefixItems" not in arm or not isinstance(value, list):
        return True
    return arm["minItems"] <= len(value) <= arm.get("maxItems", len(value)) and all(
        _is_of_length(root, _target(root, position), item)
        for position, item in zip(arm["prefixItems"], value, strict=False)
    )


def _by_type(arms: list[tuple[Node, Node]], value: object) -> Node:
    """Return the arm of a value's type; for a value of no such type, the first that is not null."""
    likely = [arm for arm, target in arms if target.get("type") != "null"]
    fitting = [arm for arm, target in arms if is_of_type(target, value)]
    return [*fitting, *likely, arms[0][0]][0]


def is_of_type(node: Node, value: object) -> bool:
    """Return whether a value is of a type that a place of a schema allows."""
    said = node.get("type", ())
    types = [said] if isinstance(said, str) else said
    if node.get("format") == "binary":
        return isinstance(value, bytes) or (value is None and "null" in types)
    return not types or any(_TYPES[kind](value) for kind in types)


def _of(*kinds: type) -> Callable[[object], bool]:
    return lambda value: type(value) in kinds


_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "array": _of(list, tuple),
    "boolean": _of(bool),
    "integer": _of(int),
    "null": _of(type(None)),
    "number": _of(float, int, Decimal),
    "object": _of(dict),
    "string": _of(str),
}
