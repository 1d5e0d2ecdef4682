"""The arms of a union by what distinguishes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

from changewire_codegen.compat.places import At, Step, target
from changewire_codegen.compat.shapes import shapes, values
from changewire_codegen.nodes import AnyDefinition, RowUnion, TaggedRow, Union

Tag: TypeAlias = tuple[Step, ...]
"""The properties or positions that distinguish arms; one, or those of messages in MessagePack."""

Key: TypeAlias = tuple[object, ...]
"""The values of an arm at its tag, and the length of the array that distinguishes the rest."""


@dataclass(frozen=True)
class Arms:
    """A union, or an object that stands for a union of itself.

    Attributes:
        tag: What distinguishes the arms; none if there is a single arm.
        nested: Position whose length distinguishes what the tag does not.
        known: The arms by their values.
        opened: The arm that takes what no other knows.
    """

    tag: Tag = ()
    nested: int | None = None
    known: dict[Key, At] = field(default_factory=dict)
    opened: At | None = None


def arms_of(at: At, other: Arms | None = None) -> Arms:
    """Return the arms of a union.

    Args:
        at: A ``oneOf``, or an object or array, which is one arm.
        other: The union to compare with: what stands for itself is distinguished like its arms.
    """
    if "oneOf" not in at.node:
        tag, nested = (other.tag, other.nested) if other is not None else ((), None)
        return _sorted([at], tag, nested)
    tag, nested = _told_by(_definition(at))
    if nested is None and other is not None and other.tag == tag:
        nested = other.nested
    return _sorted(arm_nodes(at), tag, nested)


def arm_nodes(at: At) -> list[At]:
    """Return the objects or arrays that a ``oneOf`` joins."""
    return [target(at.at("oneOf", i)) for i in range(len(at.node["oneOf"]))]


def _definition(at: At) -> AnyDefinition:
    return next(
        definition
        for definition in at.family.definitions.values()
        if (definition.file, definition.pointer) == at.place
    )


def _told_by(union: AnyDefinition) -> tuple[Tag, int | None]:
    if isinstance(union, Union):
        return (("name", union.tag),), None
    if isinstance(union, TaggedRow):
        return (("index", union.tag),), None
    if isinstance(union, RowUnion):
        return tuple(("index", i) for i in union.tags), union.nested
    return (), None


def _sorted(nodes: list[At], tag: Tag, nested: int | None) -> Arms:
    arms = Arms(tag, nested)
    opened = None
    for node in nodes:
        keys = list(_keys(node, tag, nested))
        opened = opened if keys else node
        arms.known.update(dict.fromkeys(keys, node))
    return Arms(tag, nested, arms.known, opened)


def _keys(arm: At, tag: Tag, nested: int | None) -> Iterator[Key]:
    """Yield the values by which an arm is chosen; none if it takes what is left."""
    listed = [values(node.node) if (node := child(arm, step)) else [] for step in tag]
    for key in product(*listed):
        yield (*key, None if nested is None else _length(arm, nested))


def _length(arm: At, position: int) -> int:
    shape = next(iter(shapes(arm.at("prefixItems", position)).values()))
    return len(shape.at.node.get("prefixItems", ()))


def child(at: At, step: Step) -> At | None:
    """Return what a node says of a property or position; None if it says nothing."""
    kind, where = step
    keyword: str = "properties" if kind == "name" else "prefixItems"
    known: Any = at.node.get(keyword, {})
    there = where in known if kind == "name" else int(where) < len(known)
    return at.at(keyword, where) if there else None


def condition_of(tag: Tag, key: Key) -> dict[str, Any]:
    """Return the condition that selects the values of an arm."""
    if tag and tag[0][0] == "name":
        name = str(tag[0][1])
        return {"type": "object", "properties": {name: {"const": key[0]}}, "required": [name]}
    positions: list[dict[str, Any]] = [
        {} for _ in range(max((int(i) for _, i in tag), default=0) + 1)
    ]
    for (_, i), value in zip(tag, key, strict=False):
        positions[int(i)] = {"const": value}
    return {"type": "array", "prefixItems": positions}


def chosen(arm: At, tag: Tag, key: Key) -> At:
    """Return an open arm as it stands where the tag has certain values."""
    node: dict[str, Any] = dict(arm.node)
    for (kind, where), value in zip(tag, key, strict=False):
        if kind == "name":
            node["properties"] = {**node["properties"], where: {"const": value}}
        else:
            positions = list(node["prefixItems"])
            positions[int(where)] = {"const": value}
            node["prefixItems"] = positions
    return At(arm.family, arm.file, arm.pointer, node)
