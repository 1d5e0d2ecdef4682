"""How definitions relate: their order in Python, what they refer to, the contents of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import (
    Alias,
    AnyDefinition,
    Anything,
    ArrayOf,
    Family,
    MapOf,
    Nullable,
    Object,
    Property,
    RefTo,
    Row,
    RowUnion,
    TaggedRow,
    Type,
    Union,
    children,
    with_references,
)

Definitions = dict[str, AnyDefinition]


def in_order(definitions: Definitions) -> Definitions:
    """Sort definitions so that each is after those it refers to.

    Only an object may refer to itself, directly or through others. In such a cycle the unions and
    named types come last: Python reads what they refer to at once, but that of a class later.
    """
    done: Definitions = {}
    while len(done) < len(definitions):
        for name in sorted(definitions):
            _visit(name, (), definitions, done)
    return done


def references(definition: AnyDefinition) -> list[str]:
    """Return the names that a definition refers to, in its own order."""
    if isinstance(definition, (RowUnion, Union)):
        return list(definition.arms)
    if isinstance(definition, TaggedRow):
        return [name for arm in definition.arms for name in references(arm)]
    if isinstance(definition, Alias):
        return list(_names(definition.type))
    return [name for child in children(definition) for name in _names(child.type)]


def parsed_apart(family: Family) -> set[str]:
    """Return the definitions that are used below repeated properties only.

    A message keeps their text, so their models let unknown properties pass and lose nothing. The
    models of rows let them pass as well: a newer version may have added a column.
    """
    if family.kind == "tables":
        return set(family.definitions)
    starts = [
        name
        for definition in family.definitions.values()
        if isinstance(definition, Object)
        for prop in definition.properties
        if prop.repeated
        for name in _names(prop.type)
    ]
    below = _reached(starts, family, references)
    roots = [name for name in family.variants.values() if name not in below]
    return below - _reached(roots, family, _held)


def held_type(prop: Property) -> Type:
    """Return the type of a property, nullable if it may be absent."""
    is_there = prop.required or isinstance(prop.type, Nullable)
    return prop.type if is_there else Nullable(prop.type)


def has_extra(definition: AnyDefinition, family: Family) -> bool:
    """Return whether a model keeps the properties, or positions, that its schema does not name."""
    if definition.name not in messages(family):
        return False
    return isinstance(definition, Object) or _holds_open_rows(definition, family)


def _holds_open_rows(definition: AnyDefinition, family: Family) -> bool:
    """Return whether an array is open, or one that it has at any depth."""
    held = _reached([definition.name], family, references)
    return any(isinstance(d := family.definitions[n], Row) and d.is_open for n in held)


def messages(family: Family) -> set[str]:
    """Return what is at the root of a message: of a batch, that of each element.

    A family that is not a wire format has a message in each of its files, if not a table.
    """
    if family.kind == "tables":
        return set()
    found: set[str] = set()
    todo = list(family.roles.values() or family.variants.values())
    while todo:
        definition = family.definitions[todo.pop()]
        if isinstance(definition, (RowUnion, Union, Alias)):
            todo += references(definition)
        else:
            found.add(definition.name)
    return found


def _held(definition: AnyDefinition) -> list[str]:
    """Return the names that a definition refers to, but not as text."""
    if not isinstance(definition, Object):
        return references(definition)
    kept = [prop for prop in definition.properties if not prop.repeated]
    return [name for prop in kept for name in _names(prop.type)]


def _reached(
    starts: list[str],
    family: Family,
    names: Callable[[AnyDefinition], list[str]],
) -> set[str]:
    found: set[str] = set()
    todo = list(starts)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += names(family.definitions[name])
    return found


def _names(kind: Type) -> Iterator[str]:
    if isinstance(kind, RefTo):
        yield kind.name
    elif isinstance(kind, Nullable):
        yield from _names(kind.of)
    elif isinstance(kind, ArrayOf):
        yield from _names(kind.items)
    elif isinstance(kind, MapOf):
        yield from _names(kind.values)


def _visit(name: str, path: tuple[str, ...], definitions: Definitions, done: Definitions) -> None:
    if name in done:
        return
    definition = definitions[name]
    if name in path:
        cycle = path[path.index(name) :]
        if not any(isinstance(definitions[step], Object) for step in cycle):
            reason = f"the cycle {' -> '.join((*cycle, name))} passes through no object"
            raise SchemaError(definition.file, definition.pointer, reason)
        return
    for other in references(definition):
        _visit(other, (*path, name), definitions, done)
    read_at_once = isinstance(definition, (Alias, RowUnion, Union))
    if not read_at_once or all(other in done for other in references(definition)):
        done[name] = definition


def unconstrained(family: Family) -> set[str]:
    """Return the names of the definitions that accept any value."""
    return {
        name
        for name, definition in family.definitions.items()
        if isinstance(definition, Alias) and definition.type == Anything()
    }


def without(names: set[str], definition: AnyDefinition) -> AnyDefinition:
    """Return a definition in which references to unconstrained definitions accept any value."""

    def change(reference: RefTo) -> Type:
        return Anything() if reference.name in names else reference

    def changed(properties: tuple[Property, ...]) -> tuple[Property, ...]:
        return tuple(replace(p, type=with_references(p.type, change)) for p in properties)

    if isinstance(definition, Object):
        return replace(definition, properties=changed(definition.properties))
    if isinstance(definition, Row):
        return replace(definition, positions=changed(definition.positions))
    if isinstance(definition, Alias):
        return replace(definition, type=with_references(definition.type, change))
    return definition


def arm_tag(name: str, family: Family) -> int | None:
    """Return the position that makes an array an arm; None if it is not an arm."""
    rows = [d for d in family.definitions.values() if isinstance(d, TaggedRow)]
    return next((row.tag for row in rows if any(arm.name == name for arm in row.arms)), None)
