"""Whether every value that is lost was one that a leniency counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator

from changewire_codegen.compat.places import Node, Step, Trace

_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "minimum": frozenset({"integer", "number"}),
    "maximum": frozenset({"integer", "number"}),
    "pattern": frozenset({"string"}),
    "required": frozenset({"object"}),
    "properties": frozenset({"object"}),
    "prefixItems": frozenset({"array"}),
}
"""Of which types a keyword says something."""


def is_lenient(condition: Node | None, trace: Trace) -> bool:
    """Return whether a leniency of the schema counts every value that satisfies a condition.

    Args:
        condition: What the values have in common; None if no condition says it.
        trace: The way to them, down to the node that describes them.
    """
    for at, step in reversed(trace):
        condition = condition if step is None else _above(condition, step)
        counted = at.node.get("x-leniency", {})
        if any(_implies(condition, other) for other in counted.values()):
            return True
    return False


def _above(condition: Node | None, step: Step) -> Node | None:
    """Return what holds for a value if a condition holds for one in it."""
    kind, where = step
    if condition is None or kind in {"item", "entry"}:
        return None
    if kind == "name":
        return {"type": "object", "properties": {where: condition}, "required": [where]}
    return {"type": "array", "prefixItems": [*({} for _ in range(int(where))), condition]}


def _implies(condition: Node | None, other: Node) -> bool:
    """Return, if need be too cautiously, whether what satisfies a condition satisfies another."""
    return not other or (
        condition is not None and all(_says(condition, key, other[key]) for key in other)
    )


def _says(condition: Node, keyword: str, wanted: Any) -> bool:
    values = _values(condition)
    if values is not None:
        judge: Any = Draft202012Validator({keyword: wanted})
        return all(judge.is_valid(value) for value in values)
    if keyword in _TYPES and condition.get("type", "") not in {"", *_TYPES[keyword]}:
        return True
    if keyword in condition and condition[keyword] == wanted:
        return True
    check = _CHECKS.get(keyword)
    return check is not None and check(condition, wanted)


def _values(condition: Node) -> list[Any] | None:
    """Return all values that satisfy a condition, where it lists them."""
    if "const" in condition:
        return [condition["const"]]
    low, high = condition.get("minimum"), condition.get("maximum")
    if condition.get("type") == "integer" and low is not None and low == high:
        return [low]
    return condition.get("enum")


def _type(condition: Node, wanted: str) -> bool:
    return condition.get("type") == "integer" and wanted == "number"


def _minimum(condition: Node, wanted: float) -> bool:
    return "minimum" in condition and bool(condition["minimum"] >= wanted)


def _maximum(condition: Node, wanted: float) -> bool:
    return "maximum" in condition and bool(condition["maximum"] <= wanted)


def _not(condition: Node, wanted: Node) -> bool:
    values = _values(wanted) if wanted.keys() <= {"const", "enum"} else None
    judge: Any = Draft202012Validator(condition)
    return values is not None and not any(judge.is_valid(value) for value in values)


def _any_of(condition: Node, wanted: list[Node]) -> bool:
    return any(_implies(condition, arm) for arm in wanted)


def _required(condition: Node, wanted: list[str]) -> bool:
    return set(wanted) <= set(condition.get("required", ()))


def _properties(condition: Node, wanted: Mapping[str, Node]) -> bool:
    known = condition.get("properties", {})
    return all(_implies(known.get(name, {}), other) for name, other in wanted.items())


def _positions(condition: Node, wanted: list[Node]) -> bool:
    known: list[Node] = [*condition.get("prefixItems", ()), *({} for _ in wanted)]
    return all(_implies(known[i], other) for i, other in enumerate(wanted))


_CHECKS: Final[Mapping[str, Any]] = {
    "type": _type,
    "minimum": _minimum,
    "maximum": _maximum,
    "not": _not,
    "anyOf": _any_of,
    "required": _required,
    "properties": _properties,
    "prefixItems": _positions,
}
"""For each keyword, whether a condition says what the keyword asks for."""
