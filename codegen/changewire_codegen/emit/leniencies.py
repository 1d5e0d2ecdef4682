"""``leniencies.py`` of a family: which named leniencies a model makes use of."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.emit.conditions import ModelView, compile_condition
from changewire_codegen.emit.head import UNTYPED, module_docstring
from changewire_codegen.names import inner, snake
from changewire_codegen.nodes import (
    Alias,
    ArrayOf,
    Family,
    MapOf,
    Nullable,
    Object,
    Property,
    RefTo,
    Row,
    Type,
    Union,
)
from changewire_codegen.order import has_extra, held_type, references
from changewire_codegen.writer import Writer

Definition = Object | Row | Union | Alias

UNKNOWN_PROPERTY = "unknown-property"


def leniencies(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    lenient = {name: family.definitions[name] for name in _lenient(family)}
    writer = Writer()
    writer(module_docstring("Leniencies", family))
    writer(UNTYPED)
    writer("from __future__ import annotations")
    writer("from collections.abc import Callable, Mapping")
    writer("from typing import Any")
    writer("from msgspec import UNSET")
    writer(f"from {package}.{family.name} import models")
    roots = [n for n in family.variants.values() if isinstance(family.definitions[n], Object)]
    called = [family.definitions[name] for name in _called(family, roots, lenient)]
    for definition in called:
        if not isinstance(definition, Union):
            _function(definition, family, lenient, writer)
    for definition in called:
        if isinstance(definition, Union):
            _arms(definition, lenient, writer)
    with writer.block("_CHECKS: Mapping[type, Callable[[Any, list[str]], None]] = {"):
        for name in sorted(roots):
            writer(f"models.{name}: _{snake(name)},")
    writer("}")
    writer()
    with writer.block("def leniencies(message: object) -> list[str]:"):
        writer.docstring(
            "Return the names of the leniencies that a message needed, once for each use.",
            f"`{UNKNOWN_PROPERTY}` stands for the properties in `extra`.",
        )
        writer("used: list[str] = []")
        writer("check = _CHECKS.get(type(message))")
        with writer.block("if check is not None:"):
            writer("check(message, used)")
        writer("return used")
    return writer.text()


def named_leniencies(family: Family) -> dict[str, list[str]]:
    """Return the name of each leniency with the places in the schema that allow it."""
    found: dict[str, list[str]] = {}
    for definition in family.definitions.values():
        if isinstance(definition, Object):
            for name in definition.leniencies:
                found.setdefault(name, []).append(definition.name)
        for prop in _children(definition):
            for name in prop.leniencies:
                found.setdefault(name, []).append(f"{definition.name}.{prop.wire}")
    return dict(sorted(found.items()))


def _children(definition: Object | Row | Union | Alias) -> tuple[Property, ...]:
    if isinstance(definition, Object):
        return definition.properties
    return definition.positions if isinstance(definition, Row) else ()


def _lenient(family: Family) -> set[str]:
    """Return the definitions below which a leniency may be used."""
    found: set[str] = set()
    roots = set(family.variants.values())
    while True:
        more = {
            name
            for name, definition in family.definitions.items()
            if (isinstance(definition, Object) and (definition.leniencies or name in roots))
            or any(prop.leniencies for prop in _children(definition))
            or any(other in found for other in references(definition))
        }
        if more == found:
            return found
        found = more


def _called(family: Family, roots: list[str], lenient: Mapping[str, Definition]) -> list[str]:
    """Return the definitions whose functions are called, each after those that it calls."""
    found: set[str] = set()
    todo = [name for name in roots if name in lenient]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [n for n in references(family.definitions[name]) if n in lenient]
    return [name for name in family.definitions if name in found]


def _function(
    definition: Definition, family: Family, lenient: Mapping[str, Definition], writer: Writer
) -> None:
    writer()
    with writer.block(f"def _{snake(definition.name)}(value: Any, used: list[str]) -> None:"):
        if isinstance(definition, Alias):
            _walk(definition.type, "value", lenient, writer)
            return
        if isinstance(definition, Object):
            place = (definition.file, definition.pointer)
            view = ModelView(RefTo(definition.name), family, place)
            for name, condition in definition.leniencies.items():
                _use(name, compile_condition(condition, "value", view), writer)
            if has_extra(definition, family):
                _use(UNKNOWN_PROPERTY, "value.extra is not UNSET", writer)
        for prop in _children(definition):
            expression = f"value.{prop.name}"
            view = ModelView(prop.type, family, (definition.file, prop.pointer))
            for name, condition in prop.leniencies.items():
                asked = compile_condition(condition, expression, view)
                _use(
                    name,
                    asked if prop.required else f"{expression} is not UNSET and ({asked})",
                    writer,
                )
            _walk(held_type(prop), expression, lenient, writer)


def _use(name: str, condition: str, writer: Writer) -> None:
    if condition == "True":
        writer(f"used.append({name!r})")
        return
    with writer.block(f"if {condition}:"):
        writer(f"used.append({name!r})")


def _choose(union: str, expression: str, writer: Writer) -> None:
    """Write the call of an arm's function; in place, for it is made for every item of a list."""
    writer(f"check = _{snake(union).upper()}_ARMS.get(type({expression}))")
    with writer.block("if check is not None:"):
        writer(f"check({expression}, used)")


def _arms(union: Union, lenient: Mapping[str, Definition], writer: Writer) -> None:
    """Write the function of each arm; after all functions, which may call each other."""
    writer()
    head = (
        f"_{snake(union.name).upper()}_ARMS: Mapping[type, Callable[[Any, list[str]], None]] = {{"
    )
    with writer.block(head):
        for arm in union.arms:
            if arm in lenient:
                writer(f"models.{arm}: _{snake(arm)},")
    writer("}")


def _walk(kind: Type, expression: str, lenient: Mapping[str, Definition], writer: Writer) -> None:
    """Go on into a value, where a leniency may be used below it."""
    if not any(name in lenient for name in references(Alias("", "", "", "", kind))):
        return
    if isinstance(kind, RefTo) and isinstance(lenient[kind.name], Union):
        _choose(kind.name, expression, writer)
    elif isinstance(kind, RefTo):
        writer(f"_{snake(kind.name)}({expression}, used)")
    elif isinstance(kind, Nullable):
        with writer.block(f"if {expression}:"):
            _walk(kind.of, expression, lenient, writer)
    elif isinstance(kind, (ArrayOf, MapOf)):
        below = kind.items if isinstance(kind, ArrayOf) else kind.values
        items = expression if isinstance(kind, ArrayOf) else f"{expression}.values()"
        n = inner(expression)
        with writer.block(f"for item{n} in {items}:"):
            _walk(below, f"item{n}", lenient, writer)
