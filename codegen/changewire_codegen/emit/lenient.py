"""Where in a family a leniency may be used."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.alone import MISSING_ENVELOPE, alone_property
from changewire_codegen.nodes import (
    AnyDefinition,
    Family,
    Object,
    Row,
    TaggedRow,
    children,
    with_arms,
)
from changewire_codegen.order import has_extra, references


def named_leniencies(family: Family) -> dict[str, list[str]]:
    """Return the name of each leniency with the places in the schema that allow it."""
    found: dict[str, list[str]] = {}
    for definition in with_arms(family.definitions.values()):
        if isinstance(definition, (Object, Row)):
            for name in definition.leniencies:
                found.setdefault(name, []).append(definition.name)
        if alone_property(definition) is not None:
            found.setdefault(MISSING_ENVELOPE, []).append(definition.name)
        for prop in children(definition):
            for name in prop.leniencies:
                found.setdefault(name, []).append(f"{definition.name}.{prop.wire}")
    return dict(sorted(found.items()))


def lenient_names(family: Family) -> set[str]:
    """Return the definitions below which a leniency may be used."""
    found: set[str] = set()
    while True:
        more = {
            name
            for name, definition in family.definitions.items()
            if has_extra(definition, family)
            or any(_is_lenient(own) for own in with_arms([definition]))
            or any(other in found for other in references(definition))
        }
        if more == found:
            return found
        found = more


def _is_lenient(definition: AnyDefinition) -> bool:
    """Return whether a definition itself, or one of its children, has a leniency."""
    own = isinstance(definition, (Object, Row)) and definition.leniencies
    return bool(own) or any(prop.leniencies for prop in children(definition))


def called(family: Family, roots: list[str], lenient: Mapping[str, AnyDefinition]) -> list[str]:
    """Return the definitions whose functions are called, each after those that it calls."""
    found: set[str] = set()
    todo = [name for name in roots if name in lenient]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [n for n in references(family.definitions[name]) if n in lenient]
    return [name for name in family.definitions if name in found]


def chosen_arms(row: TaggedRow, lenient: Mapping[str, AnyDefinition]) -> dict[str, Row]:
    """Return for each arm below which a leniency may be used the first one that has the same."""
    first: dict[str, Row] = {}
    chosen: dict[str, Row] = {}
    for arm in row.arms:
        below = [name for name in references(arm) if name in lenient]
        if below or _is_lenient(arm):
            same = repr((arm.leniencies, [p.leniencies for p in arm.positions]))
            chosen[arm.name] = first.setdefault(arm.name if below else same, arm)
    return chosen
