"""How definitions relate: their order in Python, what they refer to, the contents of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from changewire_codegen.nodes import (
    Alias,
    AnyDefinition,
    Anything,
    Family,
    Nullable,
    Object,
    Property,
    Record,
    RefTo,
    Row,
    RowUnion,
    TaggedRow,
    Type,
    Union,
    children,
    names_in,
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


def references(definition: AnyDefinition, *, texts: bool = True) -> list[str]:
    """Return the names that a definition refers to, in its own order; with or without texts."""
    if isinstance(definition, (RowUnion, Union)):
        return list(definition.arms)
    if isinstance(definition, TaggedRow):
        return [name for arm in definition.arms for name in references(arm)]
    if isinstance(definition, Alias):
        return names_in(definition.type)
    kept = (prop for prop in definition.properties if texts or not prop.repeated)
    return [name for prop in kept for name in names_in(prop.type)]


def reached(
    starts: Iterable[str],
    family: Family,
    names: Callable[[AnyDefinition], Iterable[str]] = references,
) -> set[str]:
    """Return some definitions and those that they refer to, at any depth."""
    found: set[str] = set()
    todo = list(starts)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += names(family.definitions[name])
    return found


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
        for prop in children(definition)
        if prop.repeated
        for name in names_in(prop.type)
    ]
    below = reached(starts, family)
    roots = [name for name in family.variants.values() if name not in below]
    return below - reached(roots, family, partial(references, texts=False))


def held_type(prop: Property) -> Type:
    """Return the type of a property, nullable if it may be absent."""
    is_there = prop.required or isinstance(prop.type, Nullable)
    return prop.type if is_there else Nullable(prop.type)


def has_extra(definition: AnyDefinition, family: Family) -> bool:
    """Return whether a model keeps the properties, or positions, that its schema does not name."""
    if definition.name not in messages(family):
        return False
    held = (family.definitions[name] for name in reached([definition.name], family))
    opened = any(isinstance(other, Row) and other.is_open for other in held)
    return opened or isinstance(definition, Object)


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


def _visit(name: str, path: tuple[str, ...], definitions: Definitions, done: Definitions) -> None:
    if name in done:
        return
    definition = definitions[name]
    if name in path:
        cycle = path[path.index(name) :]
        if not any(isinstance(definitions[step], Object) for step in cycle):
            reason = f"the cycle {' -> '.join((*cycle, name))} passes through no object"
            raise definition.refusal(reason)
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

    if isinstance(definition, Record):
        own = definition.properties
        changed = tuple(replace(p, type=with_references(p.type, change)) for p in own)
        return replace(definition, properties=changed)
    if isinstance(definition, Alias):
        return replace(definition, type=with_references(definition.type, change))
    return definition


def arm_tag(name: str, family: Family) -> int | None:
    """Return the position that makes an array an arm; None if it is not an arm."""
    rows = [d for d in family.definitions.values() if isinstance(d, TaggedRow)]
    return next((row.tag for row in rows if any(arm.name == name for arm in row.arms)), None)
