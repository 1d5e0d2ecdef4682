"""How conditions reach into models: attributes instead of properties and positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from changewire_codegen.emit.boolean import ALWAYS, NEVER, Test, compare
from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import (
    Alias,
    Choice,
    Definition,
    Family,
    Kind,
    Nullable,
    Object,
    Property,
    Record,
    RefTo,
    Row,
    RowUnion,
    Scalar,
    Type,
    Union,
)


def is_exactly(value: str, *names: str) -> Test:
    """Return the test that the type of a value is one of several, and no subclass of it."""
    if len(names) == 1:
        return compare(f"type({value})", "is", names[0])
    return compare(f"type({value})", "in", f"({', '.join(names)})")


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


def is_wire_type(name: str, value: str, *, exact: bool = False) -> Test:
    """Return the test that a parsed value is of a type of JSON or MessagePack.

    With ``exact`` numbers that binary64 cannot represent are decimals.
    """
    if name == "null":
        return compare(value, "is", "None")
    more = ("decimal.Decimal",) if exact and name == "number" else ()
    return is_exactly(value, *_WIRE_TYPES[name], *more)


_OBJECTS = (Object, Union)
_ARRAYS = (Row, RowUnion)
_CONVERTED: Mapping[Kind, str] = {"bytes": "bytes", "datetime": "datetime"}
"""The values of models instead of text."""


@dataclass(frozen=True)
class View:
    """Models: attributes instead of properties and positions; text may be bytes or a time.

    Attributes:
        place: File and JSON Pointer of the definition or property that the condition is about.
        is_open_tag: Whether the value is the tag of an open arm.
        is_number: Whether the value is known to be a number.
    """

    type: Type
    family: Family
    place: tuple[str, str]
    is_open_tag: bool = False
    is_number: bool = False

    def of_number(self) -> View:
        """Return the view of what is known to be a number."""
        return replace(self, is_number=True)

    def is_type(self, name: str, value: str) -> Test:
        """Test the type that the JSON type has in a model."""
        definition = self._definition()
        if isinstance(definition, (*_OBJECTS, *_ARRAYS)):
            same = (name == "object") == isinstance(definition, _OBJECTS)
            if name in {"object", "array"} and same:
                nullable = isinstance(self.type, Nullable)
                return compare(value, "is not", "None") if nullable else ALWAYS
            return compare(value, "is", "None") if name == "null" else NEVER
        if name == "string":
            return is_exactly(value, *self._text_types())
        if name == "integer":
            self._check_integers()
        return is_wire_type(name, value, exact=self.family.exact)

    def type_of(self, constant: object) -> str:
        """Name the type that equal values have in the model; refuse if they are converted."""
        if isinstance(constant, str):
            (name, *others) = self._text_types()
            if others or name in _CONVERTED.values():
                rule = "cannot compare text that the model has as bytes or time"
                self._refuse(f"a condition {rule}")
            return name
        if type(constant) is int:
            self._check_integers()
        return type(constant).__name__

    def number(self, value: str) -> str:
        """Round a decimal."""
        return f"as_binary64({value})" if self.family.exact else value

    def members(self, value: str, names: list[str]) -> list[tuple[Test, str, View]]:
        """Look properties up by attribute; an absent one is UNSET."""
        definition = self._definition()
        if not isinstance(definition, Object):
            self._refuse("a condition on properties needs an object with properties")
        found = {p.wire: p for p in definition.properties}
        unknown = sorted(set(names) - set(found))
        if unknown:
            self._refuse(f"a condition names {unknown[0]!r}, which {definition.name} does not have")
        return [self._member(found[name], value, definition) for name in names]

    def positions(self, value: str, count: int) -> list[tuple[Test, str, View]]:
        """Look positions up by attribute."""
        definition = self._definition()
        if not isinstance(definition, Row) or len(definition.properties) < count:
            self._refuse(f"a condition on {count} positions is about an array with so many")
        return [self._member(prop, value, definition) for prop in definition.properties[:count]]

    def _member(self, prop: Property, value: str, owner: Record) -> tuple[Test, str, View]:
        below = View(prop.type, self.family, self.place, is_open_tag(prop, owner))
        return is_set(prop, value), f"{value}.{prop.name}", below

    def _refuse(self, reason: str) -> NoReturn:
        raise SchemaError(*self.place, reason)

    def _kinds(self) -> set[Kind]:
        kind = self._definition()
        options = kind.options if isinstance(kind, Scalar | Choice) else ()
        return {option.kind for option in options}

    def _text_types(self) -> list[str]:
        if self.is_open_tag:
            return ["OpenTag"]
        kinds = self._kinds()
        converted = [name for kind, name in _CONVERTED.items() if kind in kinds]
        return ["str", *converted] if "string" in kinds or not converted else converted

    def _check_integers(self) -> None:
        kinds = self._kinds()
        if "number" in kinds and "integer" not in kinds:
            self._refuse("a condition cannot ask for integers if the model has only floats")

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


def is_open_tag(prop: Property, owner: Definition) -> bool:
    """Return whether a property is the tag of an open arm."""
    tag = owner.tag if isinstance(owner, Object) else None
    return tag is not None and not tag.models and tag.wire == prop.wire


def is_set(prop: Property, value: str) -> Test:
    """Return the test that a model has a property."""
    if prop.required:
        return ALWAYS
    return compare(f"{value}.{prop.attribute}", "is not", "UNSET")
