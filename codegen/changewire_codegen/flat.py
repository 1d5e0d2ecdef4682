"""Objects with inlined map entries, next to one other property of any name."""

from __future__ import annotations

from typing import NamedTuple

from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import (
    AnyDefinition,
    Family,
    MapOf,
    Object,
    Property,
    RefTo,
    Union,
    children,
)
from changewire_codegen.order import has_extra


class Flat(NamedTuple):
    """The two properties of such an object.

    Attributes:
        entries: The map whose entries are in the object.
        other: The property next to them.
        union: What the other property has.
        needed: The properties by which the other one is found, whatever its name.
    """

    entries: Property
    other: Property
    union: Union
    needed: tuple[str, ...]


def flat_of(definition: AnyDefinition, family: Family) -> Flat | None:
    """Return the properties of an object with inlined map entries."""
    if not isinstance(definition, Object) or len(definition.properties) != 2:  # noqa: PLR2004
        return None
    one, two = definition.properties
    entries, other = (one, two) if one.flat else (two, one)
    kind = family.definitions.get(other.type.name) if isinstance(other.type, RefTo) else None
    if not entries.flat or not isinstance(kind, Union):
        return None
    return Flat(entries, other, kind, _needed(kind, family))


def flat_names(family: Family) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Return the other property, the map and what is needed, by the name of such an object."""
    found = {name: flat_of(one, family) for name, one in family.definitions.items()}
    return {
        name: (flat.other.wire, flat.entries.wire, flat.needed)
        for name, flat in found.items()
        if flat is not None
    }


def _needed(union: Union, family: Family) -> tuple[str, ...]:
    """Return the names of the properties that all arms require."""
    arms = [family.definitions[name] for name in union.arms]
    required = [
        {prop.wire for prop in arm.properties if prop.required}
        for arm in arms
        if isinstance(arm, Object)
    ]
    return tuple(sorted(set.intersection(*required)))


def check_flat(family: Family) -> None:
    """Refuse the keyword if it has no meaning."""
    for definition in family.definitions.values():
        for prop in children(definition):
            reason = _refusal(definition, prop, family) if prop.flat else None
            if reason is not None:
                raise SchemaError(definition.file, f"{prop.pointer}/x-flat", reason)


def _refusal(definition: AnyDefinition, prop: Property, family: Family) -> str | None:
    if not isinstance(prop.type, MapOf) or not prop.required:
        return "a flat property must be required, and a map"
    if not has_extra(definition, family):
        return "only entries of a property of a message may stand in it"
    found = flat_of(definition, family)
    if found is None or not found.other.required or found.other.alone or found.other.repeated:
        return "beside a flat property there must be one, which is required: a reference to a union"
    if {found.other.name, prop.name} & {"named", "extra"}:
        return "the names 'named' and 'extra' are taken"
    return None
