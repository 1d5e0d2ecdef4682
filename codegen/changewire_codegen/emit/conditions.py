"""Conditions (in ``if``, ``then`` and ``x-leniency``) to Python expressions.

A condition keeps JSON Schema's meaning: a keyword says nothing about values of other types. It is
compiled twice: over parsed JSON, and over the models built from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

from changewire_codegen.emit.boolean import (
    ALWAYS,
    NEVER,
    Compare,
    Test,
    every,
    known,
    negated,
    printed,
    some,
    where,
)
from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import (
    Alias,
    Conditional,
    Family,
    Nullable,
    Object,
    Property,
    RefTo,
    Row,
    Type,
)

Condition = Mapping[str, Any]


class View(Protocol):
    """How a condition reaches into a value."""

    def is_type(self, name: str, value: str) -> Test:
        """Return the test that ``value`` is of a JSON type."""
        ...

    def members(self, value: str, names: list[str]) -> list[tuple[Test, str, View]]:
        """Return (test that it is there, expression, its view) of each property."""
        ...

    def positions(self, value: str, count: int) -> list[tuple[Test, str, View]]:
        """Return (test that it is there, expression, its view) of each position."""
        ...


def build_condition(condition: Condition, value: str, view: View) -> Test:
    """Return the test that ``value`` satisfies the condition."""
    tests = [_KEYWORDS[keyword](argument, value, view) for keyword, argument in condition.items()]
    if condition.get("type") in {"integer", "number"}:
        tests = [known(_is_number(value), test) for test in tests]
    return every(*tests)


def build_rule(rule: Conditional, value: str, view: View) -> Test:
    """Return the test that ``value`` keeps an if/then rule."""
    condition = build_condition(rule.condition, value, view)
    return where(condition, build_condition(rule.consequence, value, view))


def build_breach(rule: Conditional, value: str, view: View) -> Test:
    """Return the test that ``value`` breaks an if/then rule."""
    condition = build_condition(rule.condition, value, view)
    return every(condition, negated(build_condition(rule.consequence, value, view)))


def exact(pattern: str) -> str:
    """Return the literal of a pattern whose end is the end of the text, not a newline before it."""
    return repr(f"{pattern[:-1]}\\Z")


def is_exactly(value: str, *names: str) -> Test:
    """Return the test that the type of a value is one of several, and no subclass of it."""
    if len(names) == 1:
        return Compare(f"type({value})", "is", names[0])
    return Compare(f"type({value})", "in", f"({', '.join(names)})")


def _is_number(value: str) -> Test:
    return is_wire_type("number", value)


def _type(name: str, value: str, view: View) -> Test:
    return view.is_type(name, value)


def _const(constant: object, value: str, view: View) -> Test:
    return _enum([constant], value, view)


def _enum(constants: list[Any], value: str, _: View) -> Test:
    if constants == [None]:
        return Compare(value, "is", "None")
    kinds = sorted({type(constant).__name__ for constant in constants})
    listed = Compare(value, "in", repr(tuple(constants)))
    equal = Compare(value, "==", repr(constants[0]))
    return every(is_exactly(value, *kinds), equal if len(constants) == 1 else listed)


def _minimum(bound: float, value: str, _: View) -> Test:
    return where(_is_number(value), Compare(value, ">=", repr(bound)))


def _maximum(bound: float, value: str, _: View) -> Test:
    return where(_is_number(value), Compare(value, "<=", repr(bound)))


def _pattern(pattern: str, value: str, _: View) -> Test:
    found = Compare(f"re.search({exact(pattern)}, {value})", "is not", "None")
    return where(is_wire_type("string", value), found)


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

_WIRE_TYPES: Mapping[str, tuple[str, ...]] = {
    "boolean": ("bool",),
    "integer": ("int",),
    "number": ("int", "float"),
    "string": ("str",),
    "binary": ("bytes",),
    "double": ("float",),
    "array": ("list",),
    "object": ("dict",),
}


def is_wire_type(name: str, value: str) -> Test:
    """Return the test that a parsed value is of a type of JSON or MessagePack."""
    if name == "null":
        return Compare(value, "is", "None")
    return is_exactly(value, *_WIRE_TYPES[name])


class WireView:
    """Parsed JSON: dictionaries and lists."""

    def is_type(self, name: str, value: str) -> Test:
        """Test the exact Python type."""
        return is_wire_type(name, value)

    def members(self, value: str, names: list[str]) -> list[tuple[Test, str, View]]:
        """Look properties up by wire name."""
        return [(Compare(repr(name), "in", value), f"{value}[{name!r}]", self) for name in names]

    def positions(self, value: str, count: int) -> list[tuple[Test, str, View]]:
        """Look positions up by index."""
        return [
            (Compare(f"len({value})", ">", str(i)), f"{value}[{i}]", self) for i in range(count)
        ]


@dataclass(frozen=True)
class ModelView:
    """Models: attributes in place of properties and positions; text may be bytes or a time.

    Attributes:
        place: File and JSON Pointer of the definition or property that the condition is about.
    """

    type: Type
    family: Family
    place: tuple[str, str]

    def is_type(self, name: str, value: str) -> Test:
        """Test the type that the JSON type has in a model."""
        definition = self._definition()
        if isinstance(definition, (Object, Row)):
            same = (name == "object") == isinstance(definition, Object)
            if name in {"object", "array"} and same:
                nullable = isinstance(self.type, Nullable)
                return Compare(value, "is not", "None") if nullable else ALWAYS
            return Compare(value, "is", "None") if name == "null" else NEVER
        if name == "string" and self.family.encoding == "json":
            return is_exactly(value, "str", "bytes")
        return is_wire_type(name, value)

    def members(self, value: str, names: list[str]) -> list[tuple[Test, str, View]]:
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
                is_set(found[n], value),
                f"{value}.{found[n].name}",
                replace(self, type=found[n].type),
            )
            for n in names
        ]

    def positions(self, value: str, count: int) -> list[tuple[Test, str, View]]:
        """Look positions up by attribute."""
        definition = self._definition()
        if not isinstance(definition, Row) or len(definition.positions) < count:
            self._refuse(f"a condition on {count} positions is about an array with so many")
        return [
            (ALWAYS, f"{value}.{p.name}", replace(self, type=p.type))
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


def is_set(prop: Property, value: str) -> Test:
    """Return the test that a model has a property."""
    if prop.required:
        return ALWAYS
    return Compare(f"{value}.{prop.attribute}", "is not", "UNSET")


def model_rules(definition: Object, family: Family) -> list[str]:
    """Return the ``__post_init__`` that holds the if/then rules of an object; empty without."""
    if not definition.rules:
        return []
    view = ModelView(RefTo(definition.name), family, (definition.file, definition.pointer))
    lines = ["", "def __post_init__(self) -> None:", '    """Hold the rules between properties."""']
    for rule in definition.rules:
        lines.append(f"    if {printed(build_breach(rule, 'self', view))}:")
        lines.append(f"        raise ValueError({'if/then of ' + definition.name!r})")
    return lines
