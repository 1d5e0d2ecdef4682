"""Conditions (in ``x-leniency``) to Python expressions over models.

A condition keeps JSON Schema's meaning: a keyword says nothing about values of other types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire_codegen.emit.boolean import (
    Compare,
    Test,
    every,
    known,
    negated,
    some,
    where,
)
from changewire_codegen.emit.views import View, is_exactly

Condition = Mapping[str, Any]


def build_condition(condition: Condition, value: str, view: View) -> Test:
    """Return the test that ``value`` satisfies the condition."""
    tests = [_KEYWORDS[keyword](argument, value, view) for keyword, argument in condition.items()]
    if condition.get("type") in {"integer", "number"}:
        tests = [known(view.is_type("number", value), test) for test in tests]
    return every(*tests)


def exact(pattern: str) -> str:
    """Return the literal of a pattern whose end is the end of the text, not a newline before it."""
    return repr(f"{pattern[:-1]}\\Z")


def _type(name: str, value: str, view: View) -> Test:
    return view.is_type(name, value)


def _const(constant: object, value: str, view: View) -> Test:
    return _enum([constant], value, view)


def _enum(constants: list[Any], value: str, view: View) -> Test:
    if constants == [None]:
        return Compare(value, "is", "None")
    kinds = sorted({view.type_of(constant) for constant in constants})
    listed = Compare(value, "in", repr(tuple(constants)))
    equal = Compare(value, "==", repr(constants[0]))
    return every(is_exactly(value, *kinds), equal if len(constants) == 1 else listed)


def _minimum(bound: float, value: str, view: View) -> Test:
    return where(view.is_type("number", value), Compare(view.number(value), ">=", repr(bound)))


def _maximum(bound: float, value: str, view: View) -> Test:
    return where(view.is_type("number", value), Compare(view.number(value), "<=", repr(bound)))


def _pattern(pattern: str, value: str, view: View) -> Test:
    found = Compare(f"re.search({exact(pattern)}, {value})", "is not", "None")
    return where(is_exactly(value, view.type_of(pattern)), found)


def _not(condition: Condition, value: str, view: View) -> Test:
    return negated(build_condition(condition, value, view))


def _any_of(conditions: list[Condition], value: str, view: View) -> Test:
    return some(*(build_condition(condition, value, view) for condition in conditions))


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


_KEYWORDS: Mapping[str, Any] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "minimum": _minimum,
    "maximum": _maximum,
    "pattern": _pattern,
    "not": _not,
    "anyOf": _any_of,
    "required": _required,
    "properties": _properties,
    "prefixItems": _prefix_items,
}
