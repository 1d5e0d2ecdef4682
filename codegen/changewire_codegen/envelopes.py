"""Messages that may come without the object around them, and objects with inlined map entries."""

from __future__ import annotations

from typing import NamedTuple

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

MISSING_ENVELOPE = "missing-envelope"
"""Leniency of a message that is the value of a property alone."""


class Alone(NamedTuple):
    """The property whose value may be the whole message, and the union that it refers to."""

    prop: Property
    union: Union


class Flat(NamedTuple):
    """The two properties of an object with inlined map entries.

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


def alone_of(definition: AnyDefinition, family: Family) -> Alone | None:
    """Return the property whose value may be the whole message; None if an object has none."""
    prop = next((prop for prop in children(definition) if prop.alone), None)
    union = None if prop is None else _union(prop, family)
    return None if prop is None or union is None else Alone(prop, union)


def flat_of(definition: AnyDefinition, family: Family) -> Flat | None:
    """Return the properties of an object with inlined map entries; None for other objects."""
    if len(children(definition)) != 2 or not any(p.flat for p in children(definition)):  # noqa: PLR2004
        return None
    entries, other = sorted(children(definition), key=lambda prop: not prop.flat)
    union = _union(other, family)
    if union is None:
        return None
    arms = [children(family.definitions[name]) for name in union.arms]
    needed = set.intersection(*({prop.wire for prop in arm if prop.required} for arm in arms))
    return Flat(entries, other, union, tuple(sorted(needed)))


def alone_names(family: Family) -> dict[str, str]:
    """Return such a property of each object that has one, by the object's name."""
    found = {name: alone_of(one, family) for name, one in family.definitions.items()}
    return {name: alone.prop.wire for name, alone in found.items() if alone is not None}


def flat_names(family: Family) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Return the other property, the map and what is needed, by the name of such an object."""
    found = {name: flat_of(one, family) for name, one in family.definitions.items()}
    return {
        name: (flat.other.wire, flat.entries.wire, flat.needed)
        for name, flat in found.items()
        if flat is not None
    }


def check_envelopes(family: Family) -> None:
    """Refuse ``x-alone`` and ``x-flat`` if they have no meaning."""
    for definition in family.definitions.values():
        for prop in children(definition):
            reason = _alone_refusal(definition, prop, family) if prop.alone else None
            if reason is not None:
                raise definition.refusal(reason, f"{prop.pointer}/x-alone")
    for definition in family.definitions.values():
        for prop in children(definition):
            reason = _flat_refusal(definition, prop, family) if prop.flat else None
            if reason is not None:
                raise definition.refusal(reason, f"{prop.pointer}/x-flat")


def _alone_refusal(definition: AnyDefinition, prop: Property, family: Family) -> str | None:
    if not has_extra(definition, family):
        return "only a property of a message may be a message by itself"
    own, has_tag = children(definition), isinstance(definition, Object) and definition.tag
    if has_tag or sum(other.alone for other in own) > 1:
        return "only one property, of a message without a tag, may be a message by itself"
    union = _union(prop, family)
    if union is None or not prop.required:
        return (
            "a property that may be a message by itself must be required, and refer to a union of "
            "objects"
        )
    if any(other.name == "alone" for other in own):
        return "the name 'alone' is taken by a property"
    names = {other.wire for other in own}
    for arm in union.arms:
        if names & {other.wire for other in children(family.definitions[arm])}:
            return f"{arm} has a property of a name that the message has too"
    return None


def _flat_refusal(definition: AnyDefinition, prop: Property, family: Family) -> str | None:
    if not isinstance(prop.type, MapOf) or not prop.required:
        return "a flat property must be required, and a map"
    if not has_extra(definition, family):
        return "only entries of a property of a message may be in it"
    found = flat_of(definition, family)
    if found is None or not found.other.required or found.other.alone or found.other.repeated:
        return "next to a flat property there must be a required one: a reference to a union"
    if {found.other.name, prop.name} & {"named", "extra"}:
        return "the names 'named' and 'extra' are taken"
    return None


def _union(prop: Property, family: Family) -> Union | None:
    """Return the union of objects that a property refers to."""
    found = family.definitions.get(prop.type.name) if isinstance(prop.type, RefTo) else None
    return found if isinstance(found, Union) else None
