"""Conditions (in ``x-leniency``) to Python expressions over models.

A condition keeps JSON Schema's meaning: a keyword says nothing about values of other types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from changewire_codegen.emit.boolean import Test, compare, every, negated, some, where
from changewire_codegen.emit.views import View, is_exactly

Condition = Mapping[str, Any]


def build_condition(condition: Condition, value: str, view: View) -> Test:
    """Return the test that ``value`` satisfies the condition."""
    ordered = sorted(condition.items(), key=lambda item: item[0] != "type")
    own = view if condition.get("type") not in {"integer", "number"} else view.of_number()
    return every(*(_KEYWORDS[word](given, value, own) for word, given in ordered))


def exact(pattern: str) -> str:
    """Return the literal of a pattern whose end is the end of the text, not a newline before it."""
    return repr(f"{pattern[:-1]}\\Z")


def _enum(constants: list[Any], value: str, view: View) -> Test:
    if constants == [None]:
        return compare(value, "is", "None")
    kinds = sorted({view.type_of(constant) for constant in constants})
    listed = compare(value, "in", repr(tuple(constants)))
    equal = compare(value, "==", repr(constants[0]))
    return every(is_exactly(value, *kinds), equal if len(constants) == 1 else listed)


def _bound(bound: float, value: str, view: View, *, operator: str) -> Test:
    test = compare(view.number(value), operator, repr(bound))
    return test if view.is_number else where(view.is_type("number", value), test)


def _pattern(pattern: str, value: str, view: View) -> Test:
    found = compare(f"re.search({exact(pattern)}, {value})", "is not", "None")
    return where(is_exactly(value, view.type_of(pattern)), found)


def _required(names: list[str], value: str, view: View) -> Test:
    present = [there for there, _, _ in view.members(value, names)]
    return where(view.is_type("object", value), every(*present))


def _properties(conditions: Mapping[str, Condition], value: str, view: View) -> Test:
    members = view.members(value, list(conditions))
    return where(view.is_type("object", value), _each(members, list(conditions.values())))


def _prefix_items(conditions: list[Condition], value: str, view: View) -> Test:
    positions = view.positions(value, len(conditions))
    return where(view.is_type("array", value), _each(positions, conditions))


def _each(members: list[tuple[Test, str, View]], conditions: list[Condition]) -> Test:
    return every(
        *(
            where(there, build_condition(condition, expression, view))
            for (there, expression, view), condition in zip(members, conditions, strict=True)
        )
    )


_KEYWORDS: Mapping[str, Callable[[Any, str, View], Test]] = {
    "type": lambda name, value, view: view.is_type(name, value),
    "const": lambda constant, value, view: _enum([constant], value, view),
    "enum": _enum,
    "minimum": partial(_bound, operator=">="),
    "maximum": partial(_bound, operator="<="),
    "pattern": _pattern,
    "not": lambda inner, value, view: negated(build_condition(inner, value, view)),
    "anyOf": lambda options, value, view: some(*(build_condition(c, value, view) for c in options)),
    "required": _required,
    "properties": _properties,
    "prefixItems": _prefix_items,
}
