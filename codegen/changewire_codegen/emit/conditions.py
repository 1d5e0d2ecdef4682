"""Conditions (in ``if``, ``then`` and ``x-leniency``) to Python expressions.

A condition keeps JSON Schema's meaning: a keyword says nothing about values of other types. It is
compiled twice: over parsed JSON, and over the models built from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import Alias, Family, Nullable, Object, RefTo, Row, Type

Condition = Mapping[str, Any]

_IS_THERE = re.compile(r"[\w.]+ is not UNSET")
"""The test that a model has one property."""


class View(Protocol):
    """How a condition reaches into a value."""

    def is_type(self, name: str, value: str) -> str:
        """Return the test that ``value`` is of a JSON type."""
        ...

    def members(self, value: str, names: list[str]) -> list[tuple[str, str, View]]:
        """Return (test that it is there, expression, its view) of each property."""
        ...

    def positions(self, value: str, count: int) -> list[tuple[str, str, View]]:
        """Return (test that it is there, expression, its view) of each position."""
        ...


def compile_condition(condition: Condition, value: str, view: View) -> str:
    """Return an expression that is true if ``value`` satisfies the condition."""
    tests = [_KEYWORDS[keyword](argument, value, view) for keyword, argument in condition.items()]
    if condition.get("type") in {"integer", "number"}:
        guard = f"type({value}) not in (int, float) or "
        tests = [test.replace(guard, "") for test in tests]
    return " and ".join(test for test in tests if test != "True") or "True"


def exact(pattern: str) -> str:
    """Return the literal of a pattern whose end is the end of the text, not a newline before it."""
    return repr(f"{pattern[:-1]}\\Z")


def _type(name: str, value: str, view: View) -> str:
    return view.is_type(name, value)


def _const(constant: object, value: str, view: View) -> str:
    return _enum([constant], value, view)


def _enum(constants: list[Any], value: str, _: View) -> str:
    if constants == [None]:
        return f"{value} is None"
    kinds = sorted({type(constant).__name__ for constant in constants})
    kind = f"is {kinds[0]}" if len(kinds) == 1 else f"in ({', '.join(kinds)})"
    test = f"== {constants[0]!r}" if len(constants) == 1 else f"in {tuple(constants)!r}"
    return f"(type({value}) {kind} and {value} {test})"


def _minimum(bound: float, value: str, _: View) -> str:
    return f"(type({value}) not in (int, float) or {value} >= {bound!r})"


def _maximum(bound: float, value: str, _: View) -> str:
    return f"(type({value}) not in (int, float) or {value} <= {bound!r})"


def _pattern(pattern: str, value: str, _: View) -> str:
    return f"(type({value}) is not str or re.search({exact(pattern)}, {value}) is not None)"


def _not(condition: Condition, value: str, view: View) -> str:
    if set(condition) == {"type"} or condition == {"const": None}:
        test = compile_condition(condition, value, view)
        for word, opposite in ((" is ", " is not "), (" in ", " not in ")):
            if test.count(word) == 1:
                return test.replace(word, opposite)
    return _negated(compile_condition(condition, value, view))


def _negated(test: str) -> str:
    return test.replace(" is not ", " is ") if _IS_THERE.fullmatch(test) else f"not ({test})"


def _any_of(conditions: list[Condition], value: str, view: View) -> str:
    return "(" + " or ".join(f"({compile_condition(c, value, view)})" for c in conditions) + ")"


def _required(names: list[str], value: str, view: View) -> str:
    present = [there for there, _, _ in view.members(value, names)]
    tests = " and ".join(test for test in present if test != "True") or "True"
    return _where(view.is_type("object", value), tests)


def _properties(conditions: Mapping[str, Condition], value: str, view: View) -> str:
    members = view.members(value, list(conditions))
    tests = _each(members, list(conditions.values()))
    return _where(view.is_type("object", value), tests)


def _prefix_items(conditions: list[Condition], value: str, view: View) -> str:
    tests = _each(view.positions(value, len(conditions)), conditions)
    return _where(view.is_type("array", value), tests)


def _where(guard: str, test: str) -> str:
    """Return the test where the guard holds; a keyword says nothing about other values."""
    if test == "True" or guard == "True":
        return test
    return f"({_negated(guard)} or ({test}))"


def _each(members: list[tuple[str, str, View]], conditions: list[Condition]) -> str:
    tests: list[str] = []
    for (there, expression, view), condition in zip(members, conditions, strict=True):
        if condition:
            test = compile_condition(condition, expression, view)
            tests.append(_where(there, test))
    return " and ".join(tests) or "True"


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

WIRE_TYPES: Mapping[str, str] = {
    "null": "{} is None",
    "boolean": "type({}) is bool",
    "integer": "type({}) is int",
    "number": "type({}) in (int, float)",
    "string": "type({}) is str",
    "binary": "type({}) is bytes",
    "double": "type({}) is float",
    "array": "type({}) is list",
    "object": "type({}) is dict",
}


class WireView:
    """Parsed JSON: dictionaries and lists."""

    def is_type(self, name: str, value: str) -> str:
        """Test the exact Python type."""
        return WIRE_TYPES[name].format(value)

    def members(self, value: str, names: list[str]) -> list[tuple[str, str, View]]:
        """Look properties up by wire name."""
        return [(f"{name!r} in {value}", f"{value}[{name!r}]", self) for name in names]

    def positions(self, value: str, count: int) -> list[tuple[str, str, View]]:
        """Look positions up by index."""
        return [(f"len({value}) > {i}", f"{value}[{i}]", self) for i in range(count)]


@dataclass(frozen=True)
class ModelView:
    """Models: attributes in place of properties and positions; text may be bytes or a time.

    Attributes:
        place: File and JSON Pointer of the definition or property that the condition is about.
    """

    type: Type
    family: Family
    place: tuple[str, str]

    def is_type(self, name: str, value: str) -> str:
        """Test the type that the JSON type has in a model."""
        definition = self._definition()
        if isinstance(definition, (Object, Row)):
            same = (name == "object") == isinstance(definition, Object)
            if name in {"object", "array"} and same:
                return f"{value} is not None" if isinstance(self.type, Nullable) else "True"
            return f"{value} is None" if name == "null" else "False"
        if name == "string" and self.family.encoding == "json":
            return f"type({value}) in (str, bytes)"
        return WIRE_TYPES[name].format(value)

    def members(self, value: str, names: list[str]) -> list[tuple[str, str, View]]:
        """Look properties up by attribute; an absent one is UNSET."""
        definition = self._definition()
        if not isinstance(definition, Object):
            self._refuse("a condition on properties needs an object with properties")
        found = {p.wire: p for p in definition.properties}
        unknown = sorted(set(names) - set(found))
        if unknown:
            self._refuse(f"a condition names {unknown[0]!r}, which {definition.name} does not have")
        return [
            (
                "True" if found[n].required else f"{value}.{found[n].attribute} is not UNSET",
                f"{value}.{found[n].name}",
                replace(self, type=found[n].type),
            )
            for n in names
        ]

    def positions(self, value: str, count: int) -> list[tuple[str, str, View]]:
        """Look positions up by attribute."""
        definition = self._definition()
        if not isinstance(definition, Row) or len(definition.positions) < count:
            self._refuse(f"a condition on {count} positions is about an array with so many")
        return [
            ("True", f"{value}.{p.name}", replace(self, type=p.type))
            for p in definition.positions[:count]
        ]

    def _refuse(self, reason: str) -> NoReturn:
        raise SchemaError(*self.place, reason)

    def _definition(self) -> Object | Row | object:
        kind = self.type
        while True:
            if isinstance(kind, Nullable):
                kind = kind.of
            elif isinstance(kind, RefTo):
                definition = self.family.definitions[kind.name]
                if not isinstance(definition, Alias):
                    return definition
                kind = definition.type
            else:
                return kind


def model_rules(definition: Object, family: Family) -> list[str]:
    """Return the ``__post_init__`` that holds the if/then rules of an object; empty without."""
    if not definition.rules:
        return []
    view = ModelView(RefTo(definition.name), family, (definition.file, definition.pointer))
    lines = ["", "def __post_init__(self) -> None:", '    """Hold the rules between properties."""']
    for rule in definition.rules:
        condition = compile_condition(rule.condition, "self", view)
        consequence = compile_condition(rule.consequence, "self", view)
        lines.append(f"    if ({condition}) and not ({consequence}):")
        lines.append(f"        raise ValueError({'if/then of ' + definition.name!r})")
    return lines
